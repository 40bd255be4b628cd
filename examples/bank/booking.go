package main

import (
	"context"
	"fmt"
	"log"

	"github.com/ringleader-dev/ringleader/fence/kv"
)

// deposit books an amount, unless it did so when it was asked before.
func (a *account) deposit(name string, amount int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, done := a.deposits[name]; done {
		return nil
	}
	return a.book(name, amount)
}

// read returns the balance. A majority must say first that no other leads: it may have booked since.
func (a *account) read() (balance int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, amount := range a.deposits {
		balance += amount
	}
	_, err = majority(a.replicas, func(r kv.Client) (bool, error) { return true, r.Seal(a.ctx, a.token) })
	return balance, err
}

func (a *account) next() string { return fmt.Sprint("booking/", len(a.deposits)+1) }

// book writes a deposit to a majority. If none answers, nobody knows what is written: see cluster.Put.
func (a *account) book(name string, amount int) error {
	key, data := a.next(), fmt.Append(nil, name, " ", amount)
	_, err := majority(a.replicas, func(r kv.Client) (bool, error) {
		return true, r.Put(context.WithoutCancel(a.ctx), a.token, key, data)
	})
	if err != nil {
		log.Fatal(err)
	}
	a.deposits[name] = amount
	return nil
}
