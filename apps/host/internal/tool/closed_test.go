package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// scorelHome creates a home with keys and a skill, and returns options for it.
func scorelHome(t *testing.T) (home string, options Options) {
	t.Helper()
	home = project(t, map[string]string{
		"identity.json": "secret-key", "config.toml": "secret-key", "run/host.json": "secret-key",
		"skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nSay hello.", "skills/greet/scripts/hello.sh": "echo hello\n",
		"agents/helper.md": "Help.", "memory/user.md": "likes tea",
	})
	options.Private = []string{home}
	for _, part := range []string{"skills", "agents", "memory"} {
		options.Readable = append(options.Readable, filepath.Join(home, part))
	}
	return home, options
}

// TestPartsOfTheHomeAreReadAndNotWritten: the model may use the user's own skills but not
// change them, because later sessions would read the change as the user's own words.
func TestPartsOfTheHomeAreReadAndNotWritten(t *testing.T) {
	home, options := scorelHome(t)
	for path, want := range map[string]string{"skills/greet/SKILL.md": "Say hello", "agents/helper.md": "Help.", "memory/user.md": "likes tea"} {
		path = filepath.Join(home, path)
		if text, failed := runWith(t, t.Context(), options, home, "read_file", map[string]any{"path": path}); failed || !strings.Contains(text, want) {
			t.Errorf("read_file %s: %q", path, text)
		}
		set := open(t, options, Scope{})
		if result := set.call(t, home, "read_file", map[string]any{"path": path}); result.IsError {
			t.Fatal(result.Content.Plain())
		}
		for name, args := range map[string]map[string]any{
			"write_file": {"path": path, "content": "evil"}, "patch": {"path": path, "old_string": want, "new_string": "evil"},
		} {
			if text := set.call(t, home, name, args).Content.Plain(); !strings.Contains(text, "closed to tools") {
				t.Errorf("%s %s: %q", name, path, text)
			}
		}
	}
	if text, failed := runWith(t, t.Context(), options, home, "grep", map[string]any{"pattern": "hello", "path": filepath.Join(home, "skills")}); failed || !strings.Contains(text, "echo hello") {
		t.Errorf("grep: %q", text)
	}
}

// TestALinkOpensNothing: a link in an open part leads to no key, and a part that links to
// the whole folder opens nothing.
func TestALinkOpensNothing(t *testing.T) {
	home, options := scorelHome(t)
	for link, target := range map[string]string{"skills/keys": "..", "skills/greet/key.txt": "../../identity.json", "all": "."} {
		if err := os.Symlink(target, filepath.Join(home, link)); err != nil {
			t.Fatal(err)
		}
	}
	options.Readable = append(options.Readable, filepath.Join(home, "all"))
	for _, path := range []string{"skills/keys/identity.json", "skills/greet/key.txt", "all/identity.json", "identity.json", "skills/../config.toml", "skills2"} {
		if text, _ := runWith(t, t.Context(), options, home, "read_file", map[string]any{"path": filepath.Join(home, path)}); !strings.Contains(text, "closed to tools") {
			t.Errorf("%s: %q", path, text)
		}
	}
	if text, _ := runWith(t, t.Context(), options, home, "grep", map[string]any{"pattern": "secret", "path": filepath.Join(home, "skills")}); strings.Contains(text, "secret-key") {
		t.Errorf("grep through a link: %q", text)
	}
}

// TestASkillThatIsNone: the path of a skill comes from the session log, and a log may come
// from elsewhere.
func TestASkillThatIsNone(t *testing.T) {
	home, options := scorelHome(t)
	if err := os.WriteFile(filepath.Join(home, "SKILL.md"), []byte("---\nname: evil\ndescription: Evil.\n---\nx"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := open(t, options, Scope{})
	set.UseSkills(session.Skills{Skills: []session.SkillInfo{{Name: "evil", Path: filepath.Join(home, "SKILL.md"), Scope: session.ScopeUser}}})
	for _, file := range []string{"identity.json", "run/host.json", "./config.toml"} {
		if text := set.call(t, home, "read_skill", map[string]any{"name": "evil", "file": file}).Content.Plain(); strings.Contains(text, "secret-key") {
			t.Errorf("read_skill %s: %q", file, text)
		}
	}
}

// TestTheEnvironmentOfTheHostIsClosed: the file tools run in the host's process, whose
// environment holds the providers' keys.
func TestTheEnvironmentOfTheHostIsClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // no /proc on this system
	}
	cwd := t.TempDir()
	if err := os.Symlink("/proc/self", filepath.Join(cwd, "me")); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/proc/self/environ", "/proc/thread-self/environ", "/proc/self/task/../environ", "/dev/fd/../environ", "me/environ", "/proc/self/root/proc/self/environ",
		"/proc/1/environ", "/proc/self/cmdline", "/proc/self/maps",
	} {
		for name, args := range map[string]map[string]any{"read_file": {"path": path}, "grep": {"path": path, "pattern": "PATH"}} {
			if text, failed := run(t, cwd, name, args); !failed || strings.Contains(text, "PATH=") {
				t.Errorf("%s %s: %q", name, path, text)
			}
		}
	}
	if text, failed := run(t, cwd, "read_file", map[string]any{"path": "/proc/version"}); failed {
		t.Errorf("what belongs to no process is closed: %q", text)
	}
}

// TestALinkThatComesLateOpensNothing: a command of the same session can replace a file with
// a link at the very moment after a tool resolved its path.
func TestALinkThatComesLateOpensNothing(t *testing.T) {
	home, options := scorelHome(t)
	cwd := project(t, map[string]string{"safe/identity.json": "harmless\n"})
	stop := swapping(t, cwd, home)
	set := open(t, options, Scope{})
	for range 1500 {
		for name, args := range map[string]map[string]any{"read_file": {"path": "d/identity.json"}, "grep": {"path": "d/identity.json", "pattern": "."}} {
			if text := set.call(t, cwd, name, args).Content.Plain(); strings.Contains(text, "secret-key") {
				t.Errorf("%s: %q", name, text)
			}
		}
	}
	stop()
}

// swapping makes the link "d" alternate between other and the folder "safe" until it is
// stopped.
func swapping(t *testing.T, cwd, other string) (stop func()) {
	t.Helper()
	if err := os.Symlink("safe", filepath.Join(cwd, "d")); err != nil {
		t.Fatal(err)
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
			}
			target, temp := []string{other, "safe"}[i%2], filepath.Join(cwd, "temp")
			if os.Symlink(target, temp) != nil || os.Rename(temp, filepath.Join(cwd, "d")) != nil {
				return
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// TestALinkThatComesLateShowsNoNames: the names in scorel's own folder are closed too, to
// tools that list, search, or suggest similar names.
func TestALinkThatComesLateShowsNoNames(t *testing.T) {
	home, options := scorelHome(t)
	cwd := project(t, map[string]string{"safe/harmless.txt": "harmless\n", "safe/skills/x": "x"})
	stop := swapping(t, cwd, home)
	set := open(t, options, Scope{})
	for range 500 {
		for name, args := range map[string]map[string]any{
			"list_dir": {"path": "d"}, "glob": {"path": "d", "pattern": "*"}, "grep": {"path": "d", "pattern": "secret|hello"}, "read_file": {"path": "d/identity.jsonn"},
		} {
			text := set.call(t, cwd, name, args).Content.Plain()
			for _, secret := range []string{"secret-key", "config.toml", "identity.json,", "identity.json.", "host.json", "greet"} {
				if strings.Contains(text, secret) {
					t.Fatalf("%s: %q", name, text)
				}
			}
		}
	}
	stop()
}

// TestAFolderThatBecomesALinkShowsNoNames does the same with a folder below the searched
// one, in a project that contains scorel's own folder.
func TestAFolderThatBecomesALinkShowsNoNames(t *testing.T) {
	cwd := project(t, map[string]string{
		"safe/harmless.txt": "harmless\n", ".scorel/identity.json": "secret-key", ".scorel/config.toml": "secret-key",
	})
	options := Options{Private: []string{filepath.Join(cwd, ".scorel")}}
	stop := swappingFolders(t, cwd)
	set := open(t, options, Scope{})
	for range 500 {
		for name, args := range map[string]map[string]any{"glob": {"pattern": "**/*"}, "grep": {"pattern": "secret|harmless"}} {
			if text := set.call(t, cwd, name, args).Content.Plain(); strings.Contains(text, "secret-key") || strings.Contains(text, "identity") {
				t.Fatalf("%s: %q", name, text)
			}
		}
		set.call(t, cwd, "write_file", map[string]any{"path": "d/new/x", "content": "x"})
	}
	stop()
	if _, err := os.Lstat(filepath.Join(cwd, ".scorel/new")); err == nil {
		t.Error("a folder was made in scorel's own")
	}
}

// swappingFolders makes "d" alternate between a folder and a link to the keys until it is
// stopped.
func swappingFolders(t *testing.T, cwd string) (stop func()) {
	t.Helper()
	at := func(name string) string { return filepath.Join(cwd, name) }
	if os.Mkdir(at("real"), 0o700) != nil || os.Symlink(".scorel", at("link")) != nil {
		t.Fatal("the folders cannot be made")
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-end:
				return
			default:
			}
			for _, name := range []string{"real", "link"} {
				if os.Rename(at(name), at("d")) != nil || os.Rename(at("d"), at(name)) != nil {
					return
				}
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// TestALinkThatComesLateIsNotWrittenThrough does the same with tools that write: a command
// swaps folders while they do.
func TestALinkThatComesLateIsNotWrittenThrough(t *testing.T) {
	home, options := scorelHome(t)
	options.ByHand = true
	cwd := project(t, map[string]string{"safe/identity.json": "harmless\n"})
	stop := swapping(t, cwd, home)
	set := open(t, options, Scope{})
	for i := range 200 {
		set.call(t, cwd, "write_file", map[string]any{"path": "d/identity.json", "content": fmt.Sprint("evil ", i)})
		set.call(t, cwd, "write_file", map[string]any{"path": "d/new.txt", "content": "evil"})
		set.call(t, cwd, "patch", map[string]any{"patch": "*** Begin Patch\n*** Delete File: d/config.toml\n*** End Patch"})
	}
	stop()
	if text, err := os.ReadFile(filepath.Join(home, "identity.json")); err != nil || string(text) != "secret-key" {
		t.Errorf("the key is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(home, "config.toml")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(home, "new.txt")); err == nil {
		t.Error("a file was made in scorel's own folder")
	}
}
