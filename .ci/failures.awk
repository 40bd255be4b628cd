# Says shortly what failed, from the output of `make test` and `make test-long`: first the
# names, then what each failed test said itself, each race, panic and compiler error. The
# logs of nodes, which such a test prints too, are left to the full output: of a long one
# often only the end is kept, and this has to fit into it.

# Both ends of a long line: what was, and what was wanted.
function short(line) {
	return length(line) <= 300 ? line : substr(line, 1, 200) " … " substr(line, length(line) - 89)
}
function add(line) {
	line = short(line)
	if (size + length(line) > 4000) {
		more = 1
		return
	}
	size += length(line) + 1
	detail = detail line "\n"
}
# A message, of which the first lines are shown, and of a test the first messages.
function start(max) {
	left = 0
	if (messages++ < 6) {
		left = max
		add($0)
	} else
		more = 1
}

/^FAIL\t/ || /^ *--- FAIL/ || /^make(\[[0-9]+\])?: \*\*\*/ {
	if (named++ < 20)
		names = names $0 "\n"
}
/^ *--- FAIL/ { failed = 1; left = messages = 0; add($0); next }
/^(FAIL|ok|\?|---|===)/ { failed = left = messages = 0; next }
/WARNING: DATA RACE/ { messages = 0; start(25); next }
/(^|: |^ +)(panic|fatal error): / { messages = 0; start(25); next } # a timeout is a panic too
/^(# |vet: |go: )/ { messages = 0; start(10); next }
failed && /^ +[^ :]+\.go:[0-9]+: node [0-9]+:$/ { left = 0; next } # its log
failed && /^ +[^ :]+\.go:[0-9]+: / { start(5); next }
failed && /^ +FAIL: / { start(2); next } # of a shell session
left > 0 { left--; add($0) }

END {
	print "\n===== What failed =====\n" names
	if (named > 20)
		print "… and " named - 20 " more\n"
	printf "%s", detail
	if (more)
		print "… and more: see above"
}
