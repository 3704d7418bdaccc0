package files_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/files"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/api"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// world is a host that serves the files of one project. Its home is inside the project, as
// when the project is a home folder.
type world struct {
	*dispatchtest.Host
	t       *testing.T
	dir     string
	project api.Project
	local   *dispatchtest.Client

	endpoints []dispatch.Endpoint
	rules     permission.Rules
	judging   func() // called when a request has opened the folder; nil does nothing
}

func newWorld(t *testing.T) *world {
	t.Helper()
	for name, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": filepath.Join(t.TempDir(), "global"), "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ann", "GIT_AUTHOR_EMAIL": "ann@example.com", "GIT_COMMITTER_NAME": "Ann", "GIT_COMMITTER_EMAIL": "ann@example.com",
	} {
		t.Setenv(name, value)
	}
	w := &world{Host: dispatchtest.New(t), t: t}
	w.project = w.AddProject()
	w.dir = w.project.Path
	w.Paths.Home = filepath.Join(w.dir, ".scorel")
	w.write(".scorel/identity.json", "THE-KEY")
	served, err := files.New(files.Options{
		Logger: w.Log, Paths: w.Paths, Projects: w.Projects, Catalog: tool.NewCatalog(tool.Options{Private: []string{w.Paths.Home}}),
		Policy: func(project api.Project, _ string) permission.Policy {
			if w.judging != nil {
				w.judging()
			}
			return permission.Policy{Dir: project.Path, Home: "/home/nobody9", Rules: w.rules}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.endpoints = served.Endpoints()
	w.Serve(w.endpoints)
	w.local = w.Local()
	return w
}

func (w *world) at() api.Place { return api.Place{ProjectID: w.project.ID} }

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// bash runs a command as the user, or an agent, would.
func (w *world) bash(script string) string {
	w.t.Helper()
	cmd := exec.CommandContext(w.t.Context(), "bash", "-ec", script)
	cmd.Dir = w.dir
	cmd.Env = append(os.Environ(), "VISUAL=false", "EDITOR=false") // not that of the machine, which waits for a person
	out, err := cmd.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v %s", script, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (w *world) read(path string) api.ReadFileResponse {
	w.t.Helper()
	return dispatchtest.Call(w.t, w.local, api.ReadFile, api.ReadFileRequest{Place: w.at(), Path: path})
}

// TestWhatIsClosed is the table of attacks on list_files and read_file: nothing outside of
// the folder, of git, of scorel, of a secret, or that a rule closes, is sent.
func TestWhatIsClosed(t *testing.T) {
	w := newWorld(t)
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "key"), []byte("THE-KEY"), 0o600); err != nil {
		t.Fatal(err)
	}
	rules, err := permission.ParseRules([]string{"read_file(closed/**)"}, permission.Tools{"read_file": "path"})
	if err != nil {
		t.Fatal(err)
	}
	w.rules.Deny = rules
	asks, err := permission.ParseRules([]string{"read_file(asks.txt)"}, permission.Tools{"read_file": "path"})
	if err != nil {
		t.Fatal(err)
	}
	w.rules.Ask = asks
	for name, text := range map[string]string{
		"open.txt": "open\n", ".env": "THE-KEY", "id_rsa": "THE-KEY", "deep/.git/config": "THE-KEY", "closed/a.txt": "THE-KEY", "asks.txt": "THE-KEY", "a/b": "fine",
	} {
		w.write(name, text)
	}
	w.bash("git init -q . && mkfifo pipe && ln -s open.txt good && ln -s " + outside + "/key out && ln -s " + outside + " outdir && ln -s .env notes.txt && ln -s .scorel home && " +
		"ln -s .git dot && ln -s loop loop && ln -s closed/a.txt c.txt && ln -s /proc/self/environ environ")
	if got := w.read("good"); got.Text != "open\n" {
		t.Errorf("a link in the folder: %+v", got)
	}
	for path, kind := range map[string]api.Kind{
		"../" + filepath.Base(outside) + "/key": api.KindInvalidPath, filepath.Join(outside, "key"): api.KindInvalidPath, "a/../../x": api.KindInvalidPath,
		"out": api.KindNotAllowed, "outdir/key": api.KindNotAllowed, "environ": api.KindNotAllowed, ".env": api.KindNotAllowed, "notes.txt": api.KindNotAllowed,
		"id_rsa": api.KindNotAllowed, ".git/config": api.KindNotAllowed, ".GIT/config": api.KindNotAllowed, "deep/.git/config": api.KindNotAllowed, "dot/config": api.KindNotAllowed,
		".scorel/identity.json": api.KindNotAllowed, "home/identity.json": api.KindNotAllowed, "closed/a.txt": api.KindNotAllowed, "c.txt": api.KindNotAllowed, "asks.txt": api.KindNotAllowed,
		"a": api.KindInvalidPath, "pipe": api.KindInvalidPath, "loop": api.KindInvalidPath, "none": api.KindNotFound, "open.txt/x": api.KindInvalidPath, "nul\x00": api.KindInvalidPath,
	} {
		dispatchtest.Refused(t, w.local, api.ReadFile, api.ReadFileRequest{Place: w.at(), Path: path}, kind)
	}
	for _, path := range []string{"..", outside, "outdir", ".git", ".scorel", "home", "dot"} {
		if list, err := callList(t, w, path); err == nil {
			t.Errorf("the folder %s is listed: %+v", path, list)
		}
	}
	list := dispatchtest.Call(t, w.local, api.ListFiles, api.ListFilesRequest{Place: w.at()})
	var shown []string
	for _, e := range list.Entries {
		if !e.Closed {
			shown = append(shown, e.Name)
		}
	}
	if want := []string{"a", "deep", "good", "loop", "open.txt", "pipe"}; !slices.Equal(shown, want) {
		t.Errorf("open are %q, want %q", shown, want)
	}
}

func callList(t *testing.T, w *world, path string) (api.ListFilesResponse, error) {
	t.Helper()
	return dispatchtest.Try(t, w.local, api.ListFiles, api.ListFilesRequest{Place: w.at(), Path: path})
}

// TestARequestAboutFilesEnds: what nobody waits for any more is not read to its end.
func TestARequestAboutFilesEnds(t *testing.T) {
	w := newWorld(t)
	w.write("a.txt", "text")
	conn := dispatch.New(dispatch.Options{Logger: w.Log, Endpoints: w.endpoints}).NewConn(dispatch.LocalID, api.LocalGrants(), nil)
	for request, body := range map[string]string{
		api.ListFiles.Name(): fmt.Sprintf(`{"projectId":%q,"path":""}`, w.project.ID),
		api.ReadFile.Name():  fmt.Sprintf(`{"projectId":%q,"path":"a.txt"}`, w.project.ID),
	} {
		for _, leaves := range []bool{false, true} {
			ctx, leave := context.WithCancel(t.Context())
			if w.judging = nil; leaves {
				w.judging = leave
			}
			r, refused := conn.Admit(request)
			if refused != nil {
				t.Fatal(refused)
			}
			r.Body = []byte(body)
			answered := false
			err := conn.Run(ctx, r, func(any) { answered = true })
			if answered == leaves || (err != nil) != leaves {
				t.Errorf("%s, the client leaves: %t; answered: %t, error: %v", request, leaves, answered, err)
			}
			leave()
		}
	}
}

// TestReadFileInParts: a long file is read in parts that cut no character.
func TestReadFileInParts(t *testing.T) {
	w := newWorld(t)
	long := "x" + strings.Repeat("é\n", api.MaxFilePart/2)
	w.write("long.txt", long)
	w.write("binary", "a\x00b")
	w.write("latin1", "caf\xe9 in the beginning")
	w.write("empty", "")
	var got strings.Builder
	request := api.ReadFileRequest{Place: w.at(), Path: "long.txt"}
	for range 10 {
		part := dispatchtest.Call(t, w.local, api.ReadFile, request)
		got.WriteString(part.Text)
		if request.From = part.Next; part.Next == 0 {
			break
		}
	}
	if got.String() != long {
		t.Errorf("%d bytes were read of %d", got.Len(), len(long))
	}
	for _, name := range []string{"binary", "latin1"} {
		if file := w.read(name); !file.Binary || file.Text != "" {
			t.Errorf("%s: %+v", name, file)
		}
	}
	if file := w.read("empty"); file.Binary || file.Text != "" || file.Next != 0 {
		t.Errorf("empty: %+v", file)
	}
}

// TestGrantsForFiles: reading needs files, and changing approve too.
func TestGrantsForFiles(t *testing.T) {
	w := newWorld(t)
	w.write("a", "a")
	most := []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantManage}
	dispatchtest.Refused(t, w.Connect("without", most...), api.ReadFile, api.ReadFileRequest{Place: w.at(), Path: "a"}, api.KindNotAllowed)
	reader := w.Connect("reader", api.GrantFiles)
	dispatchtest.Call(t, reader, api.ReadFile, api.ReadFileRequest{Place: w.at(), Path: "a"})
	commit := api.GitCommitRequest{Place: w.at(), ClientKey: "k", Message: "m", Paths: []string{"a"}}
	dispatchtest.Refused(t, reader, api.GitCommit, commit, api.KindNotAllowed)
	dispatchtest.Refused(t, reader, api.RevertFile, api.RevertFileRequest{SessionID: "s", Path: "a"}, api.KindNotAllowed)
	dispatchtest.Refused(t, reader, api.ReadFile, api.ReadFileRequest{Path: "a"}, api.KindBadRequest)
}
