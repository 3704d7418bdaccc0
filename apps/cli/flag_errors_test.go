package cli

import (
	"errors"
	"strings"
	"testing"
)

// TestFlagErrorsForPeople: an invalid value names the flag and what it takes.
func TestFlagErrorsForPeople(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"git log --limit abc", `--limit takes a whole number, not "abc"`},
		{"git log --limit 99999999999999999999", "--limit takes a smaller whole number"},
		{"budget set --cost much", `--cost takes a number, not "much"`},
		{"budget set --day=perhaps", `--day takes true or false, not "perhaps"`},
		{"relay serve --drain soon", "give a duration such as 30s or 1m"},
		{"up --listen 127.0.0.1:99999", `--listen 127.0.0.1:99999: "99999" is not a port`},
	} {
		var out, errs strings.Builder
		code := Main(append([]string{"--home", t.TempDir()}, strings.Fields(c.line)...), strings.NewReader(""), &out, &errs, func(string) string { return "" })
		if code != ExitUsage || !strings.Contains(errs.String(), c.want) || strings.Contains(errs.String(), "strconv") {
			t.Errorf("%s: code %d, %s", c.line, code, errs.String())
		}
	}
}

func TestSentenceWithoutPackages(t *testing.T) {
	for text, want := range map[string]string{
		"keyfile: atomicfile: writing x: denied": "writing x: denied",
		"starting: state: projects.json is bad":  "starting: projects.json is bad",
		"the state: bad":                         "the state: bad",
		"reading host: no":                       "reading host: no",
		`rename_session: the field "name" has 100000 bytes, the limit is 4096`:                    "the name has 100000 bytes, the limit is 4096: shorten it",
		`save_schedule: the field "spec.when.github.phrase" has 1 byte, and must have at least 2`: "the phrase has 1 byte, and must have at least 2",
		`save_schedule: the field "spec.when.github.authors[0]" is empty`:                         "one of the authors is empty",
		`send_prompt: the field "clientKey" is missing`:                                           "the client key is missing",
	} {
		if got := sentence(errors.New(text)); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}
