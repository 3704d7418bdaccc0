package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

// trap is a project as a stranger may have made it, next to a home of scorel.
type trap struct {
	home, dir string
}

func newTrap(t *testing.T) trap {
	t.Helper()
	home := ResolveLinks(t.TempDir())
	p := trap{home, filepath.Join(home, "src", "site")}
	for path, content := range map[string]string{
		".scorel/identity.json": "THE-KEY\n", "src/site/.env": "THE-ENV\n", "src/site/f": "new\n", "src/site/-x": "old\n", "src/site/-R": "", "src/site/a/b/c/f": "c\n", "src/site/a/list": "../../.scorel/identity.json\x00",
		"src/site/bare/HEAD": "ref: refs/heads/main\n", "src/site/bare/objects/x": "", "src/site/bare/refs/x": "",
		"src/site/bare/config": "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = \"echo > " + filepath.Join(home, "ran") + "; false\"\n",
	} {
		full := filepath.Join(home, path)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, target := range map[string]string{"a/b/c/top": "../../..", "out": "../../.scorel", "doc.txt": "../../.scorel/identity.json", "new": "../../ran"} {
		if err := os.Symlink(target, filepath.Join(p.dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p trap) judge(mode api.Mode, command string) permission.Verdict {
	policy := permission.Policy{
		Mode: mode, Dir: p.dir, Home: p.home, Private: []string{filepath.Join(p.home, ".scorel")},
		Resolve: ResolveLinks, List: namesIn, GitRuns: gitRuns, Exists: existing, HomeOf: homeOf,
	}
	return policy.Judge(permission.Request{Tool: "bash", Writes: true, Command: command})
}

func (p trap) run(t *testing.T, command string) string {
	t.Helper()
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	t.Logf("%s: %v", command, err)
	return string(out)
}

// TestWhatRunsUnaskedReachesNoKey: links and patterns that a project brings lead no command
// that only reads, or writes to the project, anywhere else. Each is run to see that it would.
func TestWhatRunsUnaskedReachesNoKey(t *testing.T) {
	p := newTrap(t)
	for _, command := range []string{
		"cat {x," + p.home + "/.scorel/identity.json}", "cat o*/identity.json", "cat *.txt", "head -n 5 ?ut/*", "cat */identity.json", "cat -- *", "cat .en*", "cat .e[n]v",
		"cat a/b/c/top/../../.scorel/identity.json", "cat a/b/c/t*/../../.scorel/identity.json", "cd a/b/c/top && cat ../../.scorel/identity.json",
		"cd a/b/c/top/../../.scorel && cat identity.json", "cat < a/b/c/top/../../.scorel/identity.json", "grep -R KEY .", "grep -r KEY o*", "grep -r THE-KEY *", "diff -r . a",
		"strings @out/identity.json", "sort --files0-from=a/list",
	} {
		for _, mode := range []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAcceptEdits} {
			if v := p.judge(mode, command); v.Action == permission.Allow {
				t.Errorf("%s: %q runs without asking (%s)", mode, command, v.Reason)
			}
		}
		if out := p.run(t, command); command != "diff -r . a" && !strings.Contains(out, "THE-") {
			t.Errorf("%q is no attack: %q", command, out)
		}
	}
}

func TestWhatRunsUnaskedWritesNowhereElse(t *testing.T) {
	for _, command := range []string{"echo x > a/b/c/top/../../ran", "echo x > new", "cd a/b/c/top && echo x > ../../ran", "cd bare && git status", "cd bare; git diff", "uniq -- f -x"} {
		p := newTrap(t)
		for _, mode := range []api.Mode{api.ModePlan, api.ModeAsk, api.ModeAcceptEdits} {
			if v := p.judge(mode, command); v.Action == permission.Allow {
				t.Errorf("%s: %q runs without asking (%s)", mode, command, v.Reason)
			}
		}
		p.run(t, command)
		_, err := os.Stat(filepath.Join(p.home, "ran"))
		old, readErr := os.ReadFile(filepath.Join(p.dir, "-x"))
		if err != nil && (readErr != nil || string(old) == "old\n") {
			t.Errorf("%q is no attack: %v %v", command, err, readErr)
		}
	}
	p := newTrap(t)
	for _, command := range []string{"echo x > /dev/pts/0", "echo x > /dev/shm/x", "cat f > /dev/tty"} {
		if v := p.judge(api.ModeAcceptEdits, command); v.Action != permission.Ask {
			t.Errorf("%q: %+v", command, v)
		}
	}
}

// TestWhatOnlyReadsStillRuns: the work that an agent does all day is not asked about.
func TestWhatOnlyReadsStillRuns(t *testing.T) {
	p := newTrap(t)
	p.run(t, "rm -- doc.txt out new -x -R") // in a project without traps
	p.run(t, "git init -q . && git config remote.origin.url https://example.com/x && git config branch.main.merge refs/heads/main && git config user.name ann")
	for _, command := range []string{
		"cat a/*/c/f", "ls *", "cat a/../f", "cd a/b && cat ../../f", "cd a/b/c/top && cat f", "ls {a,a/b}", "git status", "cd a && git diff", "grep -rn KEY a", "uniq f", "cat f 2>/dev/null",
		"cd a/.. && ls", "wc -l < f",
	} {
		if v := p.judge(api.ModeAsk, command); v.Action != permission.Allow {
			t.Errorf("%q asks: %s", command, v.Reason)
		}
	}
}

// TestGitRunsNothingOfTheRepository: what git would run because the repository says so.
func TestGitRunsNothingOfTheRepository(t *testing.T) {
	for _, c := range []struct{ set, says string }{
		{"git config core.fsmonitor ./x", "core.fsmonitor"},
		{"git config core.fsmonitor true", ""},
		{"git config diff.external ./x", "diff.external"},
		{"git config diff.a.textconv ./x", "diff.a.textconv"},
		{"git config filter.a.clean ./x", "filter.a.clean"},
		{"git config gpg.program ./x", "gpg.program"},
		{"git config diff.submodule diff", "diff.submodule"},
		{"git config diff.submodule log", "diff.submodule"},
		{"git config diff.submodule short", ""},
		{"git config status.submoduleSummary true", "status.submodulesummary"},
		{"git config remote.origin.promisor true", "remote.origin.promisor"},
		{"printf '[diff]\\n\\texternal = ./x\\n' > .git/more; git config include.path more", "include.path"},
		{"touch .git/hooks/post-index-change", "hook"},
		{"git config core.hooksPath h; mkdir h; touch h/post-index-change", "hook"},
		{"git config core.hooksPath h; mkdir h; touch h/pre-commit", ""},
		{"git init -q sub && git -C sub commit -q --allow-empty -m x && git add sub && git -C sub config diff.external ./x", "diff.external"},
		{"git init -q sub && git -C sub commit -q --allow-empty -m x && git add sub", ""},
		{"printf '[' > .git/config", "cannot be read"},
		{"rm -r .git", ""},
	} {
		p := trap{dir: ResolveLinks(t.TempDir())}
		p.run(t, "git init -q . && git config user.name ann && git config user.email a@example.com")
		p.run(t, "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a; "+c.set)
		if got := gitRuns(p.dir); !strings.Contains(got, c.says) || c.says == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.set, got, c.says)
		}
	}
}

func TestLinksLeadWhereTheSystemGoes(t *testing.T) {
	p := newTrap(t)
	for path, want := range map[string]string{
		"a/b/c/top/..": "src", "a/b/c/top/../none": "src/none", "a/../f": "src/site/f", "new": "ran", "none/../f": "src/site/f", "none/./x/": "src/site/none/x", "out/none": ".scorel/none",
	} {
		if got := ResolveLinks(p.dir + "/" + path); got != filepath.Join(p.home, want) {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
	}
	if err := os.Symlink("loop", filepath.Join(p.dir, "loop")); err != nil {
		t.Fatal(err)
	}
	if got := ResolveLinks(filepath.Join(p.dir, "loop")); got != filepath.Join(p.dir, "loop") {
		t.Errorf("a link to itself leads to %s", got)
	}
	if got := ResolveLinks("/"); got != "/" {
		t.Errorf("/ leads to %s", got)
	}
	if names, complete := namesIn(p.dir); !complete || !slices.Contains(names, ".env") {
		t.Errorf("%q %v", names, complete)
	}
}

// TestLinksToAProcessStay: what leads through the folder of a process is another file for
// each program, so it stays as it is written from there on.
func TestLinksToAProcessStay(t *testing.T) {
	dir := ResolveLinks(t.TempDir())
	for name, target := range map[string]string{"own": "/proc/self/cwd", "self": "/proc/self", "first": "/proc/1/root"} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"own/../x": "/proc/self/cwd/../x", "self/environ": "/proc/self/environ", "self/cwd/../../y": "/proc/self/cwd/../../y", "first/etc": "/proc/1/root/etc",
	} {
		if got := ResolveLinks(dir + "/" + path); got != want {
			t.Errorf("%s leads to %s, want %s", path, got, want)
		}
		p := trap{dir: dir, home: "/home/nobody9"}
		if v := p.judge(api.ModeAuto, "cat "+path); v.Action != permission.Ask {
			t.Errorf("%s: %+v", path, v)
		}
	}
}

// TestTheHostKnowsWhatExists: the mode auto asks before a file that is there is written
// over, and not for a new one.
func TestTheHostKnowsWhatExists(t *testing.T) {
	dir := ResolveLinks(t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	p := trap{dir: dir, home: "/home/nobody9"}
	for command, want := range map[string]permission.Action{
		"echo x > old": permission.Ask, "echo x > link": permission.Ask, "mv new old": permission.Ask, "cp new ./link": permission.Ask, "echo x > new": permission.Allow, "echo x >> old": permission.Allow,
		"mv old new": permission.Allow, "git checkout old": permission.Ask, "git checkout topic": permission.Allow, "cat ~root/x": permission.Allow, "cat ~nobody9/x": permission.Ask,
	} {
		if v := p.judge(api.ModeAuto, command); v.Action != want {
			t.Errorf("%q: %v (%s), want %v", command, v.Action, v.Reason, want)
		}
	}
}
