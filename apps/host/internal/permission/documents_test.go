package permission

import (
	"math/rand/v2"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestBashReadsRandomDocuments compares the judge's text of random here-documents in a
// substitution with bash's.
func TestBashReadsRandomDocuments(t *testing.T) {
	pieces := []string{
		"\\\"", "\"", "'", "\\", "a", "b", " ", " \\\n", "\n", "\t", "\n\t", "$HOME", "\\$", "\\`", "~", "#", "E", "\nE ", "\nE", "\nE)", "$", "(", ")", ")", ";", " ;\\\n",
	}
	r := rand.New(rand.NewPCG(5, 6))
	p := Policy{Mode: api.ModeAsk, Dir: t.TempDir(), Home: "/home/ann"}
	var lines, judged []string
	for range 2500 {
		line := "\"$(cat " + []string{"<<E\n", "<<-E\n", "<<'E'\n", "<<-\"E\"\n"}[r.IntN(4)] + randomLine(r, 7, pieces) + "\nE\n)\""
		s := p.readScript("words " + line)
		if s.err != nil || len(s.opaque) > 0 {
			continue
		}
		for _, c := range s.commands {
			if c.words[0].text == "words" && len(c.words) == 2 && c.literal() {
				lines, judged = append(lines, line), append(judged, c.words[1].text)
			}
		}
	}
	if len(lines) < 1000 {
		t.Fatalf("only %d documents are known", len(lines))
	}
	// A syntax error ends the shell in which a substitution is read.
	const script = `words() { printf '%s' "$@"; }; cat() { local x; IFS= read -r -d '' x; printf '%s' "$x"; }
while IFS= read -r -d '' line <&4; do (eval "words $line") 2>/dev/null </dev/null 4<&-; printf '\0'; done 4<"$1"; true`
	for i, answer := range inBash(t, p.Dir, script, lines) {
		if answer != judged[i] {
			t.Errorf("%q: bash says %q, the judge %q", lines[i], answer, judged[i])
		}
	}
}
