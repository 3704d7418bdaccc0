package gitguard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bash runs a script in a folder, as a user or as an agent's command.
func bash(t *testing.T, dir, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-ec", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=user.email", "GIT_CONFIG_VALUE_0=a@b",
		"GIT_CONFIG_KEY_1=user.name", "GIT_CONFIG_VALUE_1=a")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v %s", script, err, out)
	}
	return string(out)
}

// newProject creates a repository with the user's own hooks and settings, a nested one, and
// a worktree.
func newProject(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "project")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	bash(t, dir, `git init -q -b main; echo x > f; git add f; git commit -qm one
		git config core.editor vim; mkdir -p .git/hooks; echo 'exit 0' > .git/hooks/pre-push; chmod +x .git/hooks/pre-push
		git init -q -b main below; git worktree add -q tree`)
	return dir
}

const evil = `printf '#!/bin/sh\ntouch "$MARK"\n' > "$H"; chmod +x "$H"`

// TestGitRunsNothingThatACommandPlanted: whatever a command does to what git reads, the
// user's next use of git does not run it.
func TestGitRunsNothingThatACommandPlanted(t *testing.T) {
	for name, script := range map[string]string{
		"a hook":                        `H=.git/hooks/post-commit; ` + evil,
		"a hook that was there":         `H=.git/hooks/pre-push; ` + evil,
		"another folder of git":         `mv .git old; git init -q -b main; H=.git/hooks/post-commit; ` + evil,
		"a folder of hooks":             `mkdir h; H=h/post-commit; ` + evil + `; git config core.hooksPath "$PWD/h"`,
		"a folder of hooks, relative":   `mkdir h; H=h/post-commit; ` + evil + `; git config core.hooksPath h`,
		"a link in place of the folder": `mkdir h; H=h/post-commit; ` + evil + `; rm -rf .git/hooks; ln -s ../h .git/hooks`,
		"a link out":                    `mkdir ../h; H=../h/post-commit; ` + evil + `; rm -rf .git/hooks; ln -s "$(realpath ../h)" .git/hooks`,
		"a hook below":                  `mkdir -p below/.git/hooks; H=below/.git/hooks/post-commit; ` + evil,
		"a repository below":            `git init -q -b main new; mkdir -p new/.git/hooks; H=new/.git/hooks/post-commit; ` + evil,
		"a repository moved":            `mv below moved; git init -q -b main below; mkdir -p below/.git/hooks; H=below/.git/hooks/post-commit; ` + evil,
		"a worktree's settings":         `git config extensions.worktreeConfig true; printf '[core]\n\tfsmonitor = touch "$MARK"; false\n' > .git/worktrees/tree/config.worktree`,
		"a worktree's folder":           `git clone -q . ../elsewhere; H=../elsewhere/.git/hooks/post-commit; mkdir -p ../elsewhere/.git/hooks; ` + evil + `; echo "gitdir: $(realpath ../elsewhere/.git)" > tree/.git`,
		"a watcher of files":            `git config core.fsmonitor 'touch "$MARK"; false'`,
		"a filter":                      `git config filter.x.clean 'touch "$MARK"; cat'; echo '* filter=x' > .gitattributes`,
		"settings that include others":  `printf '[core]\n\tfsmonitor = touch "$MARK"; false\n' > inc; git config include.path ../inc`,
		"a repository as plain files":   `git init -q --bare bare; git -C bare config core.fsmonitor 'touch "$MARK"; false'; git -C bare config core.bare false; git -C bare config core.worktree "$PWD"`,
		"a file of git in a folder":     `git init -q -b main .git/objects/hid; rm -rf below/.git; H=.git/objects/hid/.git/hooks/post-commit; mkdir -p .git/objects/hid/.git/hooks; ` + evil + `; echo "gitdir: ../.git/objects/hid/.git" > below/.git`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, guarded := range []bool{true, false} {
				dir := newProject(t)
				mark := filepath.Join(filepath.Dir(dir), "mark")
				end, err := New(filepath.Join(t.TempDir(), "aside")).Begin(dir)
				if err != nil {
					t.Fatal(err)
				}
				bash(t, dir, script)
				if guarded {
					if notes := end(); len(notes) == 0 || strings.Contains(strings.Join(notes, " "), " NOT ") {
						t.Errorf("the notes are %q", notes)
					}
				}
				bash(t, dir, `export MARK=`+mark+`; for d in . below new tree bare; do [ ! -d $d ] || (cd $d; echo y > f; git add f; git commit -qm two; git push -q nowhere; git status) > /dev/null 2>&1 || true; done`)
				if _, err := os.Stat(mark); (err == nil) == guarded && (guarded || name != "a hook that was there") {
					t.Errorf("guarded %v: the mark: %v", guarded, err)
				}
			}
		})
	}
}

// TestOrdinaryUseOfGitIsKept: everyday use of git is not quarantined.
func TestOrdinaryUseOfGitIsKept(t *testing.T) {
	dir := newProject(t)
	g := New(filepath.Join(t.TempDir(), "aside"))
	for _, script := range []string{
		"git init -q other", "git clone -q . copy", "git config user.name Ann", "git remote add origin https://example.com/x.git", "git checkout -q -b topic",
		"git checkout -q --track -b local main", "git worktree add -q wt", "git -c protocol.file.allow=always submodule --quiet add ./below mod || true",
		"git commit -q --allow-empty -m x", "git config core.autocrlf input", "git branch -q -u main topic", "rm .git/hooks/pre-push", "git config --unset core.editor",
		"git remote add ssh ssh://git@example.com:22/x.git; git remote add scp git@example.com:x.git; git config remote.pushDefault scp",
		"git config branch.main.remote origin; git config branch.topic.pushRemote https://example.com/fork.git", "git remote rename scp other-name",
		"git remote remove other-name", "git clone -q below copy-of-below && mv below gone && mv gone below", "rm -rf below",
		"git worktree remove wt", "git gc -q", "echo x >> f; git stash -q; git stash pop -q",
		"git config core.protectNTFS true; git config core.protectHFS Yes; printf '[core]\n\tprotectHFS\n' >> .git/config",
	} {
		end, err := g.Begin(dir)
		if err != nil {
			t.Fatal(err)
		}
		bash(t, dir, script)
		if notes := end(); len(notes) > 0 {
			t.Errorf("%s: %q", script, notes)
		}
	}
}

// TestNamesThatLookLikeGitStayRefused: some file systems take git~1, or .git with a character that
// is not shown, for .git. A commit with such a name would plant hooks there when the user checks it out.
func TestNamesThatLookLikeGitStayRefused(t *testing.T) {
	const commit = `hook=$(printf '#!/bin/sh\n' | git hash-object -w --stdin); hooks=$(printf '100755 blob %s\tpost-checkout\n' $hook | git mktree)
		folder=$(printf '040000 tree %s\thooks\n' $hooks | git mktree)
		git branch -f evil $(git commit-tree -m x -p HEAD $(printf '040000 tree %s\t'"$NAME"'\n' $folder | git mktree))`
	for setting, name := range map[string]string{"core.protectNTFS": `git~1`, "core.protectHFS": `.g\342\200\214it`} {
		for _, value := range []string{"false", "No", ""} {
			dir := newProject(t)
			bash(t, dir, "git config core.protectNTFS true; git config core.protectHFS true")
			end, err := New(filepath.Join(t.TempDir(), "aside")).Begin(dir)
			if err != nil {
				t.Fatal(err)
			}
			bash(t, dir, "NAME='"+name+"'; "+commit+"; git config "+setting+" '"+value+"'")
			if notes := end(); len(notes) != 1 || !strings.Contains(notes[0], strings.ToLower(setting)) {
				t.Errorf("%s %q: the notes are %q", setting, value, notes)
			}
			if out := bash(t, dir, "git checkout -q evil 2>&1 || true"); !strings.Contains(out, "invalid path") {
				t.Errorf("%s %q: checked out: %s", setting, value, out)
			}
		}
	}
}

// TestWhatIsPutAsideIsNotLost: quarantined files are kept where commands cannot see them,
// and the previous content is restored.
func TestWhatIsPutAsideIsNotLost(t *testing.T) {
	dir, aside := newProject(t), filepath.Join(t.TempDir(), "aside")
	before, err := os.ReadFile(filepath.Join(dir, ".git", "config"))
	if err != nil {
		t.Fatal(err)
	}
	g := New(aside)
	first, err := g.Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	bash(t, dir, `git config core.pager evil; echo new > .git/hooks/pre-push`)
	second, err := g.Begin(dir) // a concurrent command must not record what was planted
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(second(), "\n")
	if again := first(); len(again) > 0 {
		t.Errorf("the second notes are %q", again)
	}
	if after, err := os.ReadFile(filepath.Join(dir, ".git", "config")); err != nil || string(after) != string(before) {
		t.Errorf("the settings are %q, %v", after, err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, ".git", "hooks", "pre-push")); err != nil || string(text) != "exit 0\n" {
		t.Errorf("the hook is %q, %v", text, err)
	}
	for name, want := range map[string]string{".git%config": "pager = evil", ".git%hooks%pre-push": "new\n"} {
		kept, err := filepath.Glob(filepath.Join(aside, "*", name))
		if err != nil || len(kept) != 1 || !strings.Contains(notes, kept[0]) {
			t.Fatalf("kept is %q, %v; told is %s", kept, err, notes)
		}
		if text, err := os.ReadFile(kept[0]); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s is %q, %v", name, text, err)
		}
	}
}

// TestLinksDoNotLeadTheGuardOut: files are not restored through a link.
func TestLinksDoNotLeadTheGuardOut(t *testing.T) {
	dir := newProject(t)
	victim := filepath.Join(filepath.Dir(dir), "victim")
	if err := os.MkdirAll(filepath.Join(victim, "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	end, err := New(t.TempDir()).Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	bash(t, dir, `rm -rf .git; ln -s ../victim .git; mkfifo below/.git/hooks/fifo 2>/dev/null || { mkdir -p below/.git/hooks; mkfifo below/.git/hooks/fifo; }`)
	if notes := end(); len(notes) != 2 {
		t.Errorf("the notes are %q", notes)
	}
	if left, err := filepath.Glob(filepath.Join(victim, "*", "*")); err != nil || len(left) > 0 {
		t.Errorf("written was %q, %v", left, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		t.Error("the link is still there")
	}
}

// TestNoPushRunsHooksThatACommandPlanted: a push to a folder runs the hooks there.
func TestNoPushRunsHooksThatACommandPlanted(t *testing.T) {
	const before = `git remote add origin https://127.0.0.1:1/x; git config branch.main.remote origin; git config branch.main.merge refs/heads/main
		git init -q --bare inner; git remote add inner "$PWD/inner"; git remote add relative ./inner; ln -s inner link; git remote add link "$PWD/link"`
	const replace = `rm -rf inner; ln -s "$EVIL" inner`
	for name, at := range map[string]struct{ script, push string }{
		"an address":                     {`git remote set-url origin "$EVIL"`, ""},
		"an address of files":            {`git remote set-url origin "file://$EVIL"`, ""},
		"a relative address":             {`git remote set-url origin ../evil.git`, ""},
		"an address for pushes":          {`git config remote.origin.pushurl "$EVIL"`, ""},
		"a default":                      {`git config remote.pushDefault "$EVIL"`, ""},
		"a default that is a link":       {`git config remote.pushDefault other; ln -s "$EVIL" other`, ""},
		"a branch's remote":              {`git config branch.main.remote "$EVIL"`, ""},
		"a branch's remote for pushes":   {`git config branch.main.pushRemote "$EVIL"`, ""},
		"a remote that is gone":          {`git config --unset remote.origin.url; ln -s "$EVIL" origin`, ""},
		"a remote in a file":             {`git remote remove origin; mkdir -p .git/remotes; echo "URL: $EVIL" > .git/remotes/origin`, "origin"},
		"a remote in another file":       {`git remote remove origin; mkdir -p .git/branches; echo "$EVIL" > .git/branches/origin`, "origin"},
		"other addresses":                {`git config url."$EVIL".insteadOf https://127.0.0.1:1/x`, ""},
		"other addresses for pushes":     {`git config url."$EVIL".pushInsteadOf https://127.0.0.1:1/x`, ""},
		"a link in place of a folder":    {replace, "inner"},
		"the same, behind a link":        {replace, "link"},
		"the same, by a relative path":   {replace, "relative"},
		"a link beside a folder":         {`rm -rf inner; ln -s "$EVIL" inner.git`, "inner"},
		"a file in place of a folder":    {`rm -rf inner; echo "gitdir: $EVIL" > inner`, "inner"},
		"a new remote, and then a link":  {`git init -q --bare new; git remote set-url origin "$PWD/new"; rm -rf new; ln -s "$EVIL" new`, ""},
		"a way that seems to lead there": {`mkdir -p ../far/x; ln -s ../far/x way; git init -q --bare evil.git; git remote set-url origin "$PWD/way/../../evil.git"`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, guarded := range []bool{true, false} {
				dir := newProject(t)
				mark, hostile := filepath.Join(filepath.Dir(dir), "mark"), filepath.Join(filepath.Dir(dir), "evil.git")
				t.Setenv("MARK", mark)
				t.Setenv("EVIL", hostile)
				bash(t, dir, `rm .git/hooks/pre-push; `+before+`; git init -q --bare "$EVIL"; mkdir -p "$EVIL/hooks"; H="$EVIL/hooks/pre-receive"; `+evil)
				end, err := New(filepath.Join(t.TempDir(), "aside")).Begin(dir)
				if err != nil {
					t.Fatal(err)
				}
				bash(t, dir, at.script)
				if guarded {
					if notes := end(); len(notes) == 0 || strings.Contains(strings.Join(notes, " "), "could not") {
						t.Errorf("the notes are %q", notes)
					}
				}
				bash(t, dir, `git -c push.default=current push -q `+at.push+` > /dev/null 2>&1 || true`)
				if _, err := os.Stat(mark); (err == nil) == guarded {
					t.Errorf("guarded %v: the mark: %v", guarded, err)
				}
			}
		})
	}
}

// TestLargeHooksStayWhole: a hook can be a large program. It is no change, and if a command changes
// it, it is renamed, which takes no time and no space whatever its size is.
func TestLargeHooksStayWhole(t *testing.T) {
	dir, aside := newProject(t), filepath.Join(t.TempDir(), "aside")
	hook := filepath.Join(dir, ".git", "hooks", "pre-push")
	bash(t, dir, "head -c 3000000 /dev/zero > .git/hooks/pre-push")
	g := New(aside)
	for _, script := range []string{"true", "echo x >> .git/hooks/pre-push"} {
		end, err := g.Begin(dir)
		if err != nil {
			t.Fatal(err)
		}
		bash(t, dir, script)
		changed, err := os.Stat(hook)
		if err != nil {
			t.Fatal(err)
		}
		notes := end()
		if script == "true" {
			if info, err := os.Stat(hook); len(notes) > 0 || err != nil || info.Size() != 3000000 {
				t.Errorf("unchanged: %q, %v", notes, err)
			}
			continue
		}
		if len(notes) != 1 || !strings.Contains(notes[0], "too large to be restored") {
			t.Errorf("changed: %q", notes)
		}
		kept, err := filepath.Glob(hook + ".*.sample")
		if err != nil || len(kept) != 1 || !strings.Contains(notes[0], kept[0]) {
			t.Fatalf("kept is %q, %v; told is %q", kept, err, notes)
		}
		if info, err := os.Stat(kept[0]); err != nil || !os.SameFile(info, changed) {
			t.Errorf("kept: %v, %v", info, err)
		}
		if _, err := os.Stat(hook); err == nil {
			t.Error("git would still run it")
		}
		if _, err := os.Stat(aside); err == nil {
			t.Error("it was copied too")
		}
	}
	end, err := g.Begin(dir)
	if err != nil {
		t.Fatal(err)
	}
	if notes := end(); len(notes) > 0 {
		t.Errorf("what was renamed is a change: %q", notes)
	}
}
