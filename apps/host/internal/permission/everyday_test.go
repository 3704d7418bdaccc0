package permission

import "testing"

// TestEverydayCommands: what people write every day is judged, although attacks resemble it.
func TestEverydayCommands(t *testing.T) {
	holds(t, []attack{
		{"continued arguments", "go test \\\n  -run X \\\n  ./...", "n??aaa"},
		{"continued read", "grep -n x \\\n  src/a.go", "aaaaaa"},
		{"continued after an operator", "go build ./... &&\\\n go vet ./...", "n??aaa"},
		{"continued pipeline", "cat src/a.go |\\\n wc -l", "aaaaaa"},
		{"continued in quotes", "git commit -m \"one \\\ntwo\"", "n??aaa"},
		{"number sign in a continued message", "git commit -m \"Fix #12 and #13\" \\\n  -m 'See #14'", "n??aaa"},
		{"fragment in a continued line", "curl https://example.com/a#b \\\n  -o out.html", "n??aaa"},
		{"lines in a quoted document", "cat > Dockerfile <<'E'\nFROM alpine # base\nRUN apk add git && \\\n    git --version\nE", "n?aaaa"},
		{"lines in a document", "cat <<E\n# title\none \\\ntwo\nE", "aaaaaa"},
		{"comment before a continued command", "# build it\ngo build \\\n  ./...", "n??aaa"},
		{"script of several lines", "bash -c 'go build ./... &&\n  go vet ./...'", "n??aaa"},
		{"script with continued lines", "bash -c 'go test \\\n  ./...'", "n??aaa"},
		{"exported variable", "export X=y; go test ./...", "n????a"},
		{"exported variable alone", "export X=y", "n????a"},
		{"local in a function", "f() { local x=1; echo $x; }; f", "n????a"},
		{"read-only variable", "readonly X=y; go test ./...", "n????a"},
		{"test of a file", "test -f README.md && cat README.md", "n??aaa"},
		{"bracket test", "[ -f README.md ] && go build ./...", "n????a"},
		{"bracket test of a variable", `[ -n "$X" ] && go build ./...`, "n????a"},
		{"double bracket test", "[[ -f README.md ]] && go build ./...", "n????a"},
		{"test of numbers", "test 1 -lt 2", "n??aaa"},
		{"jobs", "jobs", "n??aaa"},
		{"wait", "sleep 1 & wait", "n??aaa"},
		{"wait for a process", "wait 12", "n??aaa"},
		{"shell with options", "bash -euo pipefail -c 'go build ./...'", "n??aaa"},
		{"login shell", "bash -lc 'go build ./...'", "n??aaa"},
		{"shell with a name and arguments", "bash -c 'go build ./...' x y", "n??aaa"},
		{"shell script with options", "bash -x ./build.sh", "n??aaa"},
		{"command substitution with a shell", "sh -ec 'make all'", "n??aaa"},
		{"document for a shell", "bash <<'E'\ngo build ./...\nE", "n??aaa"},
		{"document for a shell, open", "bash <<E\necho \"a b\"; go build ./...\nE", "n??aaa"},
		{"command as a test", "command -v go", "n??aaa"},
		{"command that runs", "command go build ./...", "n??aaa"},
		{"brace list after a variable", "ls $HOME/{a,b}", "n??aaa"},
		{"brace list after a variable in braces", "cat ${HOME}{/a,/b}", "n??aaa"},
		{"brace list in the project", "touch src/{a,b}.txt", "n??aaa"},
		{"tilde in a path", "ls ~/notes.txt", "n??aaa"},
		{"hex in quotes", `printf $'\x41\n'`, "aaaaaa"},
		{"printf with a format", `printf '%s\n' a b`, "aaaaaa"},
		{"declaration of a list", "declare -a X=(a b); echo ${X[0]}", "n????a"},
	})
}
