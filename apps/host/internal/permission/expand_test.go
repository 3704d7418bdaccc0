package permission

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestBashExpandsAsTheJudgeSays compares the judge's expansion with bash's.
func TestBashExpandsAsTheJudgeSays(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("this test needs bash: ", err)
	}
	dir := t.TempDir()
	for _, line := range []string{
		`$'\x2e\x2e/x'`, `$'\x2ex'`, `$'\x2'z`, `$'\56\0560'`, `$'\1012'`, `$'\u2e'`, `$'\u00e9'`, `$'\U0001F600'`, `$'\ca\cZ'`, `$'\e\a\b\f\n\r\t\v'`,
		`$'\'\"\?\\'`, `$'\q\8'`, `$'\x'`, `$'\u'`, `$'a'"b"'c'`, `'$'\''x'`, `"a\$b\"c\\d\e"`, `a\ b\c`, `a"b"'c'd`, `""x''`, `"\` + "`" + `x"`,
		`~`, `~/x`, `~+`, `~+/x`, `"~"`, `'~/x'`, `a~`, `\~/x`, `--x=~/y`, `$HOME`, `"$HOME"/x`, `${HOME}y`, `$PWD`, `"$PWD/x"`, `$(pwd)/x`, `"$(pwd)"`,
		`{a,b}`, `x{a,b}y`, `{1..3}`, `{a..c}`, `{a,b{c,d}}`, `{a}`, `{}`, `{a,"b c"}`, `'{a,b}'`, `"{a,b}"`, `a{,b}`, `{01..03}`, `{3..1}`, `x{$HOME,b}`,
		"\"$(cat <<'E'\na $b `c`\n\nE\n)\"", "\"$(cat <<E\na ~ 'b'\nE\n)\"", "\"$(cat <<-'E'\n\ta\n\tE\n)\"",
	} {
		p := Policy{Mode: api.ModeAsk, Dir: dir, Home: "/home/ann"}
		s := p.readScript("printf '%s\\0' " + line)
		if s.err != nil {
			t.Errorf("%s: %v", line, s.err)
			continue
		}
		cmd := exec.Command(bash, "--norc", "-c", `HOME=/home/ann; printf '%s\0' `+line)
		cmd.Dir, cmd.Env = dir, []string{"HOME=/home/ann", "LC_ALL=C.UTF-8", "PWD=" + dir}
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: bash: %v", line, err)
			continue
		}
		var judged []string
		for _, c := range s.commands {
			if c.words[0].text != "printf" {
				continue
			}
			for _, w := range c.words[2:] {
				if judged = append(judged, w.text); w.kind > globWord {
					t.Errorf("%s: the judge does not know %q", line, w.text)
				}
			}
		}
		if want := strings.TrimSuffix(string(out), "\x00"); strings.Join(judged, "\x00") != want {
			t.Errorf("%s: bash says %q, the judge %q", line, want, strings.Join(judged, "\x00"))
		}
	}
}

// TestWhatTheJudgeDoesNotKnow: these expansions are known only at run time.
func TestWhatTheJudgeDoesNotKnow(t *testing.T) {
	for _, line := range []string{
		`$X`, `"$X"`, `${X:-a}`, `${HOME#/}`, `${#HOME}`, `${!X}`, `$(id)`, "`id`", `$((1+1))`, `<(id)`, `~-`, `~1`, `~nobody9/x`, `$'a\0b'`, `$?`, `$$`, `$1`, `$@`, `"$@"`,
		`${X[0]}`, `@(a|b)`, `!(a)`, `$OLDPWD`, `$(pwd; id)`, `$(pwd &)`, "\"$(cat <<E\n$X\nE\n)\"", `$(cat x)`, `$(pwd > x)`,
	} {
		s := Policy{Dir: "/work", Home: "/home/ann"}.readScript("cat " + line)
		unknown := len(s.opaque) > 0
		for _, c := range s.commands {
			for _, w := range c.words {
				unknown = unknown || w.kind > globWord
			}
		}
		if s.err == nil && !unknown {
			t.Errorf("%s: %+v", line, s.commands)
		}
	}
}

// TestVariablesOfALine: the last value that a line assigns counts, unless the variable may
// have another.
func TestVariablesOfALine(t *testing.T) {
	for line, want := range map[string]string{
		"X=a; cat $X":                        "a",
		"X=a; X=b; cat $X":                   "b",
		"X=a Y=b; cat $X$Y":                  "ab",
		"X=~/x; cat $X":                      "/home/ann/x",
		"X='a b'; cat \"$X\"":                "a b",
		"X='a b'; cat $X":                    "?",
		"X=; cat $X":                         "?",
		"X=a; X+=b; cat $X":                  "?",
		"X=$(id); cat $X":                    "?",
		"X=(a b); cat $X":                    "?",
		"X=a; read X; cat $X":                "?",
		"X=a; unset X; cat $X":               "?",
		"for X in a; do cat $X; done":        "a",
		"for X in a b; do cat $X; done":      "a b",
		"for X in {a,b}; do cat $X; done":    "a b",
		"for X in $Y; do cat $X; done":       "?",
		"for ((X=0;X<1;X++)); do :; done":    "",
		"bash -c 'cat $X'":                   "?",
		"HOME=/x; cat $HOME":                 "/x",
		"cd src; cat $PWD":                   "/work/src",
		"cd src && cd ..; cat $PWD":          "/work",
		"cd $X; cat $PWD":                    "?",
		"pushd src; cat $PWD":                "?",
		"cd src || exit; cat $PWD":           "/work/src",
		"cd src || true; cat $PWD":           "?",
		"(cd src); cat $PWD":                 "/work",
		"cd src | x; cat $PWD":               "/work",
		"if a; then cd src; fi; cat $PWD":    "?",
		"while a; do cd src; done; cat $PWD": "?",
	} {
		s := Policy{Dir: "/work", Home: "/home/ann"}.readScript(line)
		var got []string
		for _, c := range s.commands {
			if c.words[0].text != "cat" {
				continue
			}
			if w := c.words[1]; w.kind > literalWord {
				got = append(got, "?")
			} else {
				got = append(got, w.text)
			}
		}
		if strings.Join(got, " ") != want || s.err != nil {
			t.Errorf("%q: %q, want %q (%v)", line, got, want, s.err)
		}
	}
}
