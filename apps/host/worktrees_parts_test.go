//go:build unix

package host_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestSubagentsWorkInTheWorktree of their session, and it is removed although they know it too.
func TestSubagentsWorkInTheWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"},
		modeltest.Calls(modeltest.Call("d", "delegate_task", `{"agent":"general","title":"write","prompt":"write it"}`)),
		modeltest.Calls(
			modeltest.Call("w", "patch", `{"path":"a.txt","old_string":"one","new_string":"child"}`),
			modeltest.Call("b", "bash", `{"command":"git commit -qam child && echo at $PWD"}`)),
		modeltest.Say("written"), modeltest.Say("Done."))
	s := g.session(t, "1")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd || !strings.Contains(g.asked(3), "at "+s.Worktree.Folder) {
		t.Fatalf("%+v: %s", end, g.asked(3))
	}
	g.has(t, filepath.Join(g.folder, "a.txt"), "one\n")
	g.has(t, filepath.Join(s.Worktree.Folder, "a.txt"), "child\n")
	all := call(t, g.c, api.ListSessions, api.ListSessionsRequest{All: true}).Sessions
	if len(all) != 2 {
		t.Fatalf("listed are %+v", all)
	}
	for _, each := range all {
		if each.Worktree == nil || each.Worktree.Folder != s.Worktree.Folder {
			t.Errorf("%s works in %+v", each.ID, each.Worktree)
		}
		changes := call(t, g.c, api.GetChanges, api.GetChangesRequest{SessionID: each.ID})
		if len(changes.Files) != 1 || changes.Files[0].Path != "a.txt" {
			t.Errorf("%s changed %+v", each.ID, changes.Files)
		}
	}
	if got := g.archive(t, s.ID, true); !got.Worktree.Removed {
		t.Errorf("with a subagent that has ended: %+v", got.Worktree)
	}
	if got := g.bash(t, g.folder, "git log --format=%s "+s.Worktree.Branch); got != "child\nfirst" {
		t.Errorf("the branch has %q", got)
	}
}

// placeServer makes this test program an MCP server whose tool says where it runs. Its file
// "held" is locked while the server lives.
const placeServer = "SCOREL_TEST_PLACE_SERVER"

// serveAsMCP serves if this process is that server.
func serveAsMCP() bool {
	if os.Getenv(placeServer) == "" {
		return false
	}
	servePlace()
	return true
}

func servePlace() {
	held, err := os.Create("held")
	if err != nil {
		log.Fatal(err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		log.Fatal(err)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "place", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "where", Description: "Says where it runs."},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			dir, err := os.Getwd()
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "served in " + dir}}}, nil, err
		})
	if err := s.Run(context.Background(), &sdk.StdioTransport{}); err != nil {
		log.Fatal(err)
	}
	_ = held.Close()
}

// TestMCPServersOfAWorktree run there by the consent for their project, and end with it.
func TestMCPServersOfAWorktree(t *testing.T) {
	where := modeltest.Calls(modeltest.Call("w", "mcp__place__where", `{}`))
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"place": map[string]any{"command": thisProgram(t), "env": map[string]string{placeServer: "1"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	g := newGrove(t, map[string]string{"a.txt": "one\n", ".mcp.json": string(config), ".gitignore": "held\n"}, where, modeltest.Say("Done."))
	call(t, g.c, api.TrustProject, api.TrustProjectRequest{ProjectID: g.project.ID, Trusted: true})
	listed := call(t, g.c, api.ListMCPServers, api.ListMCPServersRequest{ProjectID: g.project.ID}).Servers
	if len(listed) != 1 || listed[0].State != api.MCPNeedsConsent {
		t.Fatalf("listed are %+v", listed)
	}
	call(t, g.c, api.DecideMCPServer, api.DecideMCPServerRequest{ProjectID: g.project.ID, Name: "place", Hash: listed[0].Hash, Allow: true})
	s := g.session(t, "1")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd || !strings.Contains(g.asked(2), "served in "+s.Worktree.Folder) {
		t.Fatalf("%+v: %s", end, g.asked(2))
	}
	held, err := os.Open(filepath.Join(s.Worktree.Folder, "held"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = held.Close() }()
	lock := func() error { return syscall.Flock(int(held.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
	if lock() == nil {
		t.Fatal("the server does not hold its file: the test sees nothing")
	}
	if got := g.archive(t, s.ID, true); !got.Worktree.Removed {
		t.Fatalf("archived: %+v", got.Worktree)
	}
	if err := lock(); err != nil {
		t.Errorf("the server runs on without its folder: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(g.folder, "held")); err == nil {
		t.Error("a server ran in the project's folder too")
	}
}

// TestInstructionsOfAWorktree are those of its commit, also nested ones, and not those of the
// main checkout.
func TestInstructionsOfAWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"AGENTS.md": "Committed rule.\n", "deep/AGENTS.md": "Deep rule.\n", "deep/x.txt": "x\n"},
		modeltest.Calls(modeltest.Call("r", "read_file", `{"path":"deep/x.txt"}`)), modeltest.Say("Done."))
	call(t, g.c, api.TrustProject, api.TrustProjectRequest{ProjectID: g.project.ID, Trusted: true})
	g.bash(t, g.folder, "echo 'Uncommitted rule.' > AGENTS.md; echo 'Other depth.' > deep/AGENTS.md")
	s := g.session(t, "1")
	if end := g.turn(t, s.ID, 1); end.StopReason != session.StopEnd {
		t.Fatalf("%+v", end)
	}
	if got := g.asked(1); !strings.Contains(got, "Committed rule.") || strings.Contains(got, "Uncommitted rule.") {
		t.Errorf("the model was given %s", got)
	}
	if got := g.asked(2); !strings.Contains(got, "Deep rule.") || strings.Contains(got, "Other depth.") {
		t.Errorf("the model was given %s", got)
	}
}

// TestAnImportedSessionClaimsNoWorktree: a session file that was exported from one continues in
// the folder of its project.
func TestAnImportedSessionClaimsNoWorktree(t *testing.T) {
	g := newGrove(t, map[string]string{"a.txt": "one\n"}, modeltest.Say("One."),
		modeltest.Calls(modeltest.Call("b", "bash", `{"command":"echo at $PWD"}`)), modeltest.Say("Two."))
	s := g.session(t, "1")
	g.turn(t, s.ID, 1)
	exported := filepath.Join(t.TempDir(), "exported.jsonl")
	g.bash(t, g.home, fmt.Sprintf("cp $(grep -l %s -r sessions) %s", s.ID, exported))
	if got := call(t, g.c, api.DeleteSession, api.SessionRequest{SessionID: s.ID}); got.Worktree != nil {
		t.Fatalf("deleted: %+v", got.Worktree)
	}
	imported := call(t, g.c, api.ImportSession, api.ImportSessionRequest{Path: exported}).Session
	if imported.Worktree != nil || imported.ProjectID != g.project.ID {
		t.Errorf("imported is %+v", imported)
	}
	if end := g.turn(t, imported.ID, 2); end.StopReason != session.StopEnd || !strings.Contains(g.asked(3), "at "+g.folder) {
		t.Errorf("%+v: %s", end, g.asked(3))
	}
}
