package kv

import (
	"errors"
	"net/http"
	"syscall"

	"github.com/ringleader-dev/ringleader/fence/fencehttp"
	"github.com/ringleader-dev/ringleader/fence/store"
)

// errCutShort says that the connection ended before the whole body of the request had arrived.
var errCutShort = errors.New("the value did not arrive whole")

// problems are the errors of the service itself, with their answers; package fencehttp has all
// others. The first entry that matches counts, since an error may match several: a broken store may
// also have no space.
var problems = []struct {
	err    error
	status int
	title  string
	advice string // "" if the error's text has the advice
}{
	{store.ErrBroken, http.StatusInternalServerError, "the store is broken", ""},
	{
		store.ErrNoSpace, http.StatusInsufficientStorage, "no space left",
		"nothing was changed: make room on the disk of the store, and try again",
	},
	{
		syscall.EROFS, http.StatusInternalServerError, "the disk is read-only",
		"nothing was changed: make the disk of the store writable, and try again",
	},
	{
		store.ErrCorrupt, http.StatusInternalServerError, "the data is damaged",
		"nothing was changed: restore the store from a copy",
	},
	{store.ErrNotFound, http.StatusNotFound, "no such key", ""},
	{store.ErrKey, http.StatusBadRequest, "not a key", ""},
	{store.ErrTooLarge, http.StatusRequestEntityTooLarge, "the value is too large", ""},
	{errCutShort, http.StatusBadRequest, "the value was cut short", ""},
}

// refuse answers a request that could not be done because of err.
func refuse(w http.ResponseWriter, err error) {
	for _, p := range problems {
		if errors.Is(err, p.err) {
			detail := err.Error()
			if p.advice != "" {
				detail += ": " + p.advice
			}
			problem(p.status, p.title, detail).Write(w)
			return
		}
	}
	fencehttp.Refuse(w, err)
}

func problem(status int, title, detail string) fencehttp.Problem {
	// The type "about:blank" says that the HTTP status alone names the kind of problem (RFC 9457).
	return fencehttp.Problem{Type: "about:blank", Title: title, Status: status, Detail: detail}
}
