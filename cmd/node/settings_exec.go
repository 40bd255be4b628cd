package main

func withFallback(value string, s setting) setting {
	s.fallback = value
	return s
}
