package rounds_test

import (
	"fmt"
	"os"
)

func dbgFail(r *reading, kind, text string, term uint64) {
	if f := os.Getenv("DBGFAIL"); f != "" {
		fh, _ := os.OpenFile(f, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		fmt.Fprintf(fh, "%s | %s | seed %d | %s | term %d | %s\n", kind, r.run.name, r.run.seed, r.name, term, text)
		fh.Close()
	}
}
