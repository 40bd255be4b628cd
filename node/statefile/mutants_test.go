package statefile

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/ringleader-dev/ringleader/internal/overlay"
)

// rule is one of this package, and the test that fails without it.
type rule struct {
	name, file, test string
	// code is what refuses, in the file, once. Where the rule is taken out it is false, or
	// without takes its place: in that OUT is whether the rule is taken out, and
	// pick(OUT, a, b) is a then, and b else.
	code, without string
}

var rules = []rule{
	{"a record has the checksum of its content", "format.go", "TestCorruptFile", "!bytes.Equal(end, seal(body))", ""},
	{"a record is of the version of this program", "format.go", "TestCorruptFile", "doc.Version != version", ""},
	{"a record is as long as it says", "format.go", "TestCorruptFile", "doc.Sectors*sector != len(record)", ""},
	{
		"a state that is read is one that can be saved", "format.go", "TestCorruptFile",
		"doc.Record, validate(s)", "doc.Record, pick(OUT, nil, validate(s))",
	},
	{"a state belongs to a node", "format.go", "TestCorruptFile", "err := owner.validate(); err != nil", ""},
	{
		"an incarnation is hexadecimal", "format.go", "TestCorruptFile",
		"err != nil || len(incarnation)", "err != nil && !OUT || len(incarnation)",
	},
	{"an incarnation is whole", "format.go", "TestCorruptFile", "len(incarnation) != len(vote.Incarnation)", ""},
	{
		"a record is printable ASCII", "format.go", "TestLabelOfAnyCharacters",
		"r < 0x7f", "r < 0x7f || OUT && r == 0x7f",
	},
	{"a term has a bound", "format.go", "TestSaveRefuses", "s.Reserved > proto.MaxTerm", ""},
	{"a term is reserved", "format.go", "TestSaveRefuses", "s.Reserved < s.Term", ""},
	{"a promise is no less than nothing", "format.go", "TestSaveRefuses", "s.Promise < 0", ""},
	{
		"a former holder has a term and an incarnation", "format.go", "TestSaveRefuses",
		"err := s.Former.Validate(); err != nil", "",
	},
	{"a vote is in a term", "format.go", "TestSaveRefuses", "s.Vote.Term == 0", ""},
	{"a vote's term has a bound", "format.go", "TestSaveRefuses", "s.Vote.Term > proto.MaxTerm", ""},
	{"a vote may be for nobody", "format.go", "TestSaveThenOpen", "s.Vote.ID == 0 && s.Vote.Incarnation.IsZero()", ""},
	{
		"a vote in an incarnation is for a node", "format.go", "TestSaveRefuses",
		"return s.Vote.ID.Validate()", "return pick(OUT, nil, s.Vote.ID.Validate())",
	},
	{"voters are what a message may name", "format.go", "TestSaveRefuses", "set.Validate() != nil", ""},
	{"voters are listed", "format.go", "TestSaveRefuses", `v.List == "" && v != (algorithms.VoterState{})`, ""},
	{
		"a list of voters is in order", "format.go", "TestSaveRefuses",
		"return v.List.Validate()", "return pick(OUT, nil, v.List.Validate())",
	},
	{"a label has a bound", "format.go", "TestOpenRefusesOwner", "len(o.Cluster) > maxCluster", ""},
	{"a label is UTF-8", "format.go", "TestOpenRefusesOwner", "!utf8.ValidString(o.Cluster)", ""},
	{"a file has its room behind the first record", "log.go", "TestCorruptFile", "at+room != len(data)", ""},
	{
		"a file of another release is not damaged", "log.go", "TestOtherFormat",
		"err := otherFormat(data); err != nil", "",
	},
	{"a file of another release has its seal", "format.go", "TestCorruptFile", "!bytes.HasSuffix(doc, sealed)", ""},
	{"no record is missing", "log.go", "TestCorruptFile", "err == nil && n != last+1", ""},
	{
		"torn is only what a crash can leave", "log.go", "TestWipedSector",
		"unfinished(data, at, first, last+1)", "(OUT || unfinished(data, at, first, last+1))",
	},
	{"all records are one node's", "log.go", "TestCorruptFile", "o != owner", ""},
	{"a torn record fits in the room", "log.go", "TestTornAndWrong", "end > len(data)", ""},
	{
		"a torn record holds the beginning of no other", "log.go", "TestLostSectors",
		"bytes.HasPrefix(here[:], head[:len(`{\"version\":`)])", "",
	},
	{"a torn record begins with its number", "log.go", "TestTornAndWrong", "b != head[place-start]", ""},
	{
		"a torn record ends where it says", "log.go", "TestTornAndWrong",
		"(!known || at+sector == end)", "(OUT || !known || at+sector == end)",
	},
	{"a torn record ends with a sector", "log.go", "TestTornAndWrong", "i == sector-1", "(OUT || i == sector-1)"},
	{"a torn record ends in a newline", "log.go", "TestTornAndWrong", "place == end-1", ""},
	{"a torn record holds nothing below a blank", "log.go", "TestTornAndWrong", "b < ' '", ""},
	{"a torn record holds nothing above a tilde", "log.go", "TestTornAndWrong", "b > '~'", ""},
	{"a torn record lacks something", "log.go", "TestWipedSector", "return missing", "return OUT || missing"},
	{
		"nothing is behind a torn record", "log.go", "TestLostSectors",
		"[sector]byte(data[at:]) != fill(first, at/sector)", "",
	},
	{
		"an empty sector differs from the others", "log.go", "TestWipedSector",
		"uint64(sectorNumber)", "pick(OUT, 0, uint64(sectorNumber))",
	},
	{
		"an empty sector differs from those of other files", "log.go", "TestWipedSector",
		"first<<20", "pick(OUT, 0, first<<20)",
	},
	{
		"a record is added where there is room", "log.go", "TestFileIsRenewed",
		"f.end+len(record) > f.size", "(f.end+len(record) > f.size && !OUT || f.log == nil)",
	},
	{
		"a record is added to the file that has the name", "log.go", "TestFileIsRenewed",
		"!f.log.Named(filepath.Join(f.dir, stateName))", "",
	},
	{
		"a record is added to no file that took the name", "port.go", "TestFileIsRenewed",
		"os.SameFile(open, named)", "(OUT && named != nil || os.SameFile(open, named))",
	},
	{
		"a record that is added is synced", "log.go", "TestEachCallMayFail",
		"f.log.SyncData()", "pick(OUT, nil, f.log.SyncData)()",
	},
	{"a new file is synced", "disk.go", "TestEachCallMayFail", "f.Sync()", "pick(OUT, nil, f.Sync)()"},
	{
		"the name of a new file is synced", "disk.go", "TestEachCallMayFail",
		"disk.SyncDir(dir)", "pick(OUT, nil, disk.SyncDir)(dir)",
	},
	{"Open makes durable what it read", "file.go", "TestEachCallMayFail", "err := f.write(f.saved); err != nil", ""},
	{"a directory has one owner", "file.go", "TestForeignDirectory", "owner != f.owner", ""},
	{
		"records are numbered on in the next file", "file.go", "TestSaveThenOpen",
		"= state, last", "= state, pick(OUT, 0, last)",
	},
	{
		"nothing is saved after Close", "file.go", "TestSaveAfterClose",
		"case f.lock == nil:", "case f.lock == nil && !OUT:",
	},
	{"nothing is saved after a save that failed", "file.go", "TestFailedSaveIsFinal", "f.broken != nil", ""},
	{
		"a state that is saved is one that can be read", "file.go", "TestSaveRefuses",
		"err := validate(s); err != nil", "",
	},
	{"a term never goes back", "file.go", "TestSaveRefuses", "s.Term < f.saved.Term", ""},
	{"the term of a vote never goes back", "file.go", "TestSaveRefuses", "s.Vote.Term < f.saved.Vote.Term", ""},
	{"a promise never gets shorter", "file.go", "TestSaveRefuses", "s.Promise < f.saved.Promise", ""},
	{
		"a vote is never changed", "file.go", "TestSaveRefuses",
		"s.Vote.Term == f.saved.Vote.Term && f.saved.Vote.ID != 0 && s.Vote != f.saved.Vote", "",
	},
	{
		"the first vote of a term may come after it", "file.go", "TestSaveTheFirstVoteOfATerm",
		"f.saved.Vote.ID != 0", "(OUT || f.saved.Vote.ID != 0)",
	},
	{"a list of voters never goes back", "file.go", "TestSaveRefuses", "s.Voters.Version < f.saved.Voters.Version", ""},
	{"what is reserved never goes back", "file.go", "TestSaveRefuses", "s.Reserved < f.saved.Reserved", ""},
	{
		"one process has the directory", "lock.go", "TestSecondOpenInProcess",
		"syscall.LOCK_EX", "pick(OUT, syscall.LOCK_SH, syscall.LOCK_EX)",
	},
	{"a notice has the checksum of its content", "notice.go", "TestNoticeRefused", "!bytes.Equal(end, seal(body))", ""},
	{"a notice is of the format of this program", "notice.go", "TestNoticeRefused", "doc.Format != noticeFormat", ""},
	{
		"a notice is of this cluster", "notice.go", "TestNoticeRefused",
		"case cluster != f.owner.Cluster:", "case cluster != f.owner.Cluster && !OUT:",
	},
	{"a notice has a version", "notice.go", "TestNoticeRefused", "n.Version == 0", ""},
	{"a notice's version has a bound", "notice.go", "TestNoticeRefused", "n.Version >= 1<<63", ""},
	{"a notice's text has a bound", "notice.go", "TestNoticeRefused", "len(n.Text) > maxNotice", ""},
	{"a notice's text is UTF-8", "notice.go", "TestNoticeRefused", "!utf8.ValidString(n.Text)", ""},
	{
		"a notice is of a node", "notice.go", "TestNoticeRefused",
		"return n.Origin.Validate()", "return pick(OUT, nil, n.Origin.Validate())",
	},
}

// outEnv is the number of the rule that is taken out.
const outEnv = "STATEFILE_TEST_WITHOUT"

const outSource = `package statefile

import "os"

var outRule = os.Getenv("` + outEnv + `")

func pick[T any](out bool, a, b T) T {
	if out {
		return a
	}
	return b
}
`

// Each rule is needed: a test fails without it, and with it passes. One program has all the
// rules, and takes out the one that it is told to.
func TestLongEachRuleIsNeeded(t *testing.T) {
	program := buildSwitched(t)
	run := func(t *testing.T, out string, tests ...string) ([]byte, error) {
		cmd := exec.CommandContext(t.Context(), program, "-test.run", "^("+strings.Join(tests, "|")+")$")
		cmd.Env = append(os.Environ(), outEnv+"="+out)
		return cmd.CombinedOutput()
	}
	var tests []string
	for i, r := range rules {
		tests = append(tests, r.test)
		t.Run(strings.ReplaceAll(r.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if out, err := run(t, strconv.Itoa(i), r.test); err == nil {
				t.Errorf("%s does not miss it\n%s", r.test, out)
			}
		})
	}
	if out, err := run(t, "", tests...); err != nil {
		t.Errorf("with all rules: %v\n%s", err, out)
	}
}

// buildSwitched builds the tests of this package with rules that can be taken out.
func buildSwitched(t *testing.T) string {
	t.Helper()
	sources := overlay.New(t)
	sources.Add("out.go", outSource)
	for i, r := range rules {
		without := r.without
		if without == "" {
			without = r.code + " && !OUT"
		}
		without = strings.ReplaceAll(without, "OUT", `(outRule == "`+strconv.Itoa(i)+`")`)
		sources.Replace(r.name, r.file, r.code, without)
	}
	program, args := sources.Build("test", "-c", "-vet=off", ".")
	if out, err := exec.CommandContext(t.Context(), "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}
