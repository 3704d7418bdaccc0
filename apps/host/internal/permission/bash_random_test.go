package permission

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// randomLine joins up to most pieces in random order.
func randomLine(r *rand.Rand, most int, pieces []string) string {
	var b strings.Builder
	for range 1 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// inBash passes each line to a bash script in dir, which reads them, ended by zero bytes, from
// its input and writes one answer for each, ended alike.
func inBash(t *testing.T, dir, script string, lines []string) []string {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal("this test needs bash: ", err)
	}
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\x00")+"\x00"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "-c", script, "bash", file)
	cmd.Dir, cmd.Env = dir, []string{"HOME=/home/ann", "LC_ALL=C.UTF-8", "PWD=" + dir}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	answers := strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00")
	if len(answers) != len(lines) {
		t.Fatalf("bash answered %d of %d lines", len(answers), len(lines))
	}
	return answers
}

// TestBashRunsNothingUnseen judges random lines that name a program. Those that run without
// asking must not run the program in bash.
func TestBashRunsNothingUnseen(t *testing.T) {
	pieces := []string{
		"marker ", "marker ", "echo ", "cat ", "a", " ", " ", "\n", "\n", "\\\n", " \\\n", " \\\n", " \\\n", ";\\\n", "|\\\n", "\t\\\n", "\r", "\\\r\n",
		"#", " #", " # ", ";", "&&", "|", "&", "\"", "\"", "'", "'", "$", "$", "`", "$'", "(", ")", "<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "\\", "\\\"", "\\$",
		"{", "}", "<", "<(", "<<<", "!", "[", "=", "$((", "))", "{a,b}", "*", "~", "\v",
	}
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	p := Policy{Mode: api.ModeAsk, Dir: dir, Home: "/home/ann", PrivateHidden: true}
	var allowed []string
	continued := 0
	for range 80_000 {
		line := []string{"echo ", "echo \"", "cat <<E\n", "echo #"}[r.IntN(4)] + randomLine(r, 3, pieces) + "marker " + randomLine(r, 3, pieces)
		if judge(p, line).Action == Allow {
			allowed = append(allowed, line)
			if strings.Contains(line, "\\\n") {
				continued++
			}
		}
	}
	if len(allowed) < 2000 || continued < 200 {
		t.Fatalf("only %d lines run without asking, %d of them continued", len(allowed), continued)
	}
	const script = `marker() { printf ran >&3; }; cat() { :; }
while IFS= read -r -d '' line <&4; do { eval "$line"; } 3>&1 >/dev/null 2>&1 </dev/null; printf '\0'; done 4<"$1"`
	for i, answer := range inBash(t, dir, script, allowed) {
		if answer != "" {
			t.Errorf("%q runs the program unasked", allowed[i])
		}
	}
}

// TestBashExpandsRandomWords compares the judge's expansion of random words with bash's.
func TestBashExpandsRandomWords(t *testing.T) {
	pieces := []string{
		"$'", "'", "'", "\"", "\"", "\\", "\\", "\\x", "\\c", "x2f", "{2f}", "a", "b", "1", "0", "x", "u", "c", "~", "~+", "/", "/", "..", ".", "$", "$", "$\"",
		"$HOME", "$HOME", "$PWD", "${HOME}", "$(pwd)", "HOME", "{", "}", "{", "}", ",", ",", "{a,b}", "{1..3}", "{c..a}", "{01..3}", "=", ":", "+", "-",
		"[", "]", "*", "!", "@", "#", "%", "^", " ", "\t", "\\\n", " \\\n", "é",
	}
	r := rand.New(rand.NewPCG(3, 4))
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := Policy{Mode: api.ModeAsk, Dir: dir, Home: "/home/ann"}
	var lines, judged []string
	for range 30_000 {
		line := randomLine(r, 7, pieces)
		if words, known := expansionOf(p.readScript("words " + line)); known {
			lines, judged = append(lines, line), append(judged, words)
		}
	}
	if len(lines) < 5000 {
		t.Fatalf("only %d words are known", len(lines))
	}
	const script = `words() { [ $# = 0 ] || printf '<%s>' "$@"; }
while IFS= read -r -d '' line <&4; do eval "words $line" 2>/dev/null </dev/null; printf '\0'; done 4<"$1"`
	for i, answer := range inBash(t, dir, script, lines) {
		if answer != judged[i] {
			t.Errorf("%q: bash says %q, the judge %q", lines[i], answer, judged[i])
		}
	}
}

// expansionOf returns the arguments of the only command of a line, if all of them are known.
func expansionOf(s *script) (words string, known bool) {
	if s.err != nil || s.compound || len(s.opaque)+len(s.redirects) > 0 || len(s.commands) != 1 || !s.commands[0].literal() {
		return "", false
	}
	for _, w := range s.commands[0].plain()[1:] {
		words += "<" + w + ">"
	}
	return words, true
}
