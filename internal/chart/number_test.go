package chart

import "testing"

func TestNumber(t *testing.T) {
	for x, want := range map[float64]string{
		0: "0", 7: "7", 0.4375: "0.44", 12.345: "12.35", 123.45: "123.5", 1234.5: "1234",
	} {
		if got := Number(x); got != want {
			t.Errorf("%v is printed as %s, want %s", x, got, want)
		}
	}
}
