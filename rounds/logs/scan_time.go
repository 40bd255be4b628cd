package logs

import (
	"math"
	"time"
)

// day is a date of UTC, and the second at which it begins.
type day struct {
	date  [len("2026-11-20")]byte
	began int64
}

// instant reads a time.
func (s *scanner) instant() time.Time {
	found := s.text()
	if s.failed {
		return time.Time{}
	}
	for _, d := range s.days {
		if !s.escaped && len(found) > len(d.date) && string(found[:len(d.date)]) == string(d.date[:]) {
			if at, ok := d.at(found[len(d.date):]); ok {
				return at
			}
		}
	}
	var at time.Time
	if at.UnmarshalText(found) != nil {
		s.failed = true
		return at
	}
	if found[len(found)-1] == 'Z' {
		const seconds = 24 * 60 * 60
		d := day{began: at.Unix() - (at.Unix()%seconds+seconds)%seconds}
		copy(d.date[:], found)
		s.days = [2]day{d, s.days[0]}
	}
	return at
}

// at returns the time that s says, like T15:04:05.123Z, with or without a fraction.
func (d day) at(s []byte) (at time.Time, ok bool) {
	const whole = len("T15:04:05")
	if len(s) <= whole || s[0] != 'T' || s[3] != ':' || s[6] != ':' || s[len(s)-1] != 'Z' {
		return at, false
	}
	h, m, sec := twoDigits(s[1:]), twoDigits(s[4:]), twoDigits(s[7:])
	if h > 23 || m > 59 || sec > 59 {
		return at, false
	}
	nanos, ok := fraction(s[whole : len(s)-1])
	return time.Unix(d.began+h*3600+m*60+sec, nanos).UTC(), ok
}

// twoDigits returns a number above 99 if s does not begin with two digits.
func twoDigits(s []byte) int64 {
	tens, ones := s[0]-'0', s[1]-'0'
	if tens > 9 || ones > 9 {
		return math.MaxInt64
	}
	return int64(tens)*10 + int64(ones)
}

// fraction returns the nanoseconds that .123 says. Nothing is 0.
func fraction(s []byte) (nanos int64, ok bool) {
	const digits = 9
	if len(s) == 0 {
		return 0, true
	}
	if s[0] != '.' || len(s) < 2 || len(s) > 1+digits {
		return 0, false
	}
	for i := 1; i <= digits; i++ {
		digit := byte(0)
		if i < len(s) {
			digit = s[i] - '0'
		}
		if digit > 9 {
			return 0, false
		}
		nanos = nanos*10 + int64(digit)
	}
	return nanos, true
}
