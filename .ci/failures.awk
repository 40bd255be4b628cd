# Says shortly what failed, from the output of `make test`: first the names, then the
# first lines of each message of a failed test, each race, panic and compiler error.
function add(line) {
	if (block++ < 30 && shown++ < 100)
		detail = detail substr(line, 1, 400) "\n"
}
function start(max) { left = max; add($0) }

/^FAIL\t/ || /^ *--- FAIL/ || /^make(\[[0-9]+\])?: \*\*\*/ {
	if (named++ < 40)
		names = names $0 "\n"
}
/^ *--- FAIL/ { failed = 1; block = 0; start(0); next }
/^(FAIL|ok|\?|---|===)/ { failed = block = left = 0; next }
/WARNING: DATA RACE/ { start(25); next }
/(^|: |^ +)(panic|fatal error): / { start(25); next } # a timeout is a panic too
/^(# |vet: |go: )/ { block = 0; start(10); next }
# A message of a failed test. What follows it may be the log of a whole cluster.
failed && /^ +[^ :]+\.go:[0-9]+: / { start(5); next }
failed && /^ +FAIL: / { start(2); next } # of a shell session
left > 0 { left--; add($0) }

END {
	print "\n===== What failed =====\n" names
	if (named > 40)
		print "… and " named - 40 " more\n"
	printf "%s", detail
	if (shown > 100)
		print "… and more: see above"
}
