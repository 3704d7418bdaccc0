package files_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/dispatch/dispatchtest"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/packages/protocol/api"
)

func (w *world) find(query string) api.FindFilesResponse {
	w.t.Helper()
	return dispatchtest.Call(w.t, w.local, api.FindFiles, api.FindFilesRequest{Place: w.at(), Query: query})
}

func (w *world) found(query string) []string {
	paths := []string{}
	for _, file := range w.find(query).Files {
		paths = append(paths, file.Path)
	}
	return paths
}

// TestFindFiles: the better a name matches, the earlier it comes; what git ignores is left
// out, in a repository and elsewhere.
func TestFindFiles(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{
		"apps/web/src/client.go", "apps/client_test.go", "client/readme.md", "Client.go", "docs/a clean tree.txt", "build/client.js", "other/x.md",
	} {
		w.write(name, "x")
	}
	w.write(".gitignore", "build/\n")
	w.bash("ln -s docs/ linked")
	for query, want := range map[string][]string{
		"":              {"apps", "docs", "other", "client", "linked", "Client.go", ".gitignore"},
		"client.go":     {"Client.go", "apps/web/src/client.go", "apps/client_test.go"},
		"CLIENT":        {"client", "Client.go", "apps/client_test.go", "apps/web/src/client.go", "client/readme.md"},
		"client/":       {"client/readme.md"},
		"apps/":         {"apps/web", "apps/client_test.go", "apps/web/src", "apps/web/src/client.go"},
		"cltest":        {"apps/client_test.go"},
		"a clean":       {"docs/a clean tree.txt"},
		"webcli":        {"apps/web/src/client.go"},
		"none of these": {},
	} {
		if got := w.found(query); !slices.Equal(got, want) {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	kinds := map[string]api.FileKind{}
	for _, file := range w.find("").Files {
		kinds[file.Path] = file.Kind
	}
	if kinds["apps"] != api.FileFolder || kinds["linked"] != api.FileLink || kinds["Client.go"] != api.FileRegular {
		t.Errorf("the kinds are %v", kinds)
	}
}

// TestFindFilesLeavesOut: what is closed is not offered, and neither is a name that would
// break the line of a prompt.
func TestFindFilesLeavesOut(t *testing.T) {
	w := newWorld(t)
	rules, err := permission.ParseRules([]string{"read_file(closed/**)"}, permission.Tools{"read_file": "path"})
	if err != nil {
		t.Fatal(err)
	}
	w.rules.Deny = rules
	for _, name := range []string{"open.txt", ".env", "id_rsa", "closed/a.txt", "deep/.git/config", "two\nlines.txt"} {
		w.write(name, "x")
	}
	w.bash("git init -q . && mkfifo pipe && ln -s /etc/passwd out.txt && ln -s .env env.txt && ln -s .git dot")
	if got, want := w.found(""), []string{"deep", "open.txt"}; !slices.Equal(got, want) {
		t.Errorf("the folder has %q, want %q", got, want)
	}
	for _, query := range []string{"txt", "env", "identity", "config", "id_rsa", "a.txt", "pipe", "lines"} {
		for _, path := range w.found(query) {
			if path != "open.txt" {
				t.Errorf("%q finds %q", query, path)
			}
		}
	}
}

func TestFindFilesIsBounded(t *testing.T) {
	w := newWorld(t)
	for i := range 500 {
		w.write(fmt.Sprintf("f%03d.txt", i), "")
	}
	w.write("zz/f000.txt.md", "")
	got := w.find("f")
	if len(got.Files) != api.MaxFound || !got.Truncated || got.Files[0].Path != "f000.txt" {
		t.Errorf("%d of 501 are listed, truncated %t, the first is %v", len(got.Files), got.Truncated, got.Files[0])
	}
	if got := w.find("f499"); len(got.Files) != 1 || got.Truncated {
		t.Errorf("one file: %+v", got)
	}
	most := []api.Grant{api.GrantView, api.GrantPrompt, api.GrantApprove, api.GrantManage}
	dispatchtest.Refused(t, w.Connect("without", most...), api.FindFiles, api.FindFilesRequest{Place: w.at()}, api.KindNotAllowed)
}
