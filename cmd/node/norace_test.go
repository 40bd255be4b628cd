//go:build hostile && !race

package main

const underRace = false
