package sessions_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/file"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// The pages are the list, also while a session is taken away between two of them and
// another one is made.
func TestPagesAreTheList(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	for i := range 11 {
		if _, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: fmt.Sprintf("k%d", i)}); err != nil {
			t.Fatal(err)
		}
	}
	all := m.List("")
	var got []api.SessionSummary
	for request := (api.ListSessionsRequest{ProjectID: f.project.ID, Limit: 3}); ; {
		page, err := m.Page(request, nil)
		if err != nil || len(page.Sessions) > 3 || page.Total != 11 {
			t.Fatalf("%d of %d sessions, %v", len(page.Sessions), page.Total, err)
		}
		if got = append(got, page.Sessions...); page.Next == "" {
			break
		}
		if len(got) == 6 { // the last that was given goes, and a newer one comes
			if _, err := m.Delete(t.Context(), got[5].ID); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Create(t.Context(), f.project, "cli_x", api.CreateSessionRequest{ClientKey: "new"}); err != nil {
				t.Fatal(err)
			}
		}
		request.After = page.Next
	}
	if !reflect.DeepEqual(got, all) {
		t.Errorf("got %d sessions, want %d:\n%v\n%v", len(got), len(all), got, all)
	}
	if page, err := m.Page(api.ListSessionsRequest{}, nil); err != nil || len(page.Sessions) != 11 || page.Next != "" {
		t.Errorf("all at once: %d sessions, next %q, %v", len(page.Sessions), page.Next, err)
	}
	for _, bad := range []api.ListSessionsRequest{{Limit: -1}, {Limit: 1, After: "x"}, {Limit: 1, After: "x.y"}, {Limit: 1, After: "1."}} {
		if _, err := m.Page(bad, nil); err == nil {
			t.Errorf("%+v was answered", bad)
		}
	}
}

// A page of a long list costs the sorting of its headlines, and nothing is read.
func BenchmarkPageOf5000(b *testing.B) {
	dir := b.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "prj_1"), 0o700); err != nil {
		b.Fatal(err)
	}
	dawn := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range 5000 {
		at := dawn.Add(time.Duration(i) * time.Minute)
		header, err := session.EncodeHeader(session.Header{
			Type: session.TypeSession, Version: session.Version, ID: fmt.Sprintf("s%04d", i), Timestamp: session.FormatTime(at), Cwd: dir, ProjectID: "prj_1",
		})
		if err != nil {
			b.Fatal(err)
		}
		name := fmt.Sprintf("%s_s%04d.jsonl", strings.NewReplacer(":", "-", ".", "-").Replace(session.FormatTime(at)), i)
		if err := os.WriteFile(filepath.Join(dir, "prj_1", name), append(header, '\n'), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	log := slog.New(slog.DiscardHandler)
	m, err := sessions.NewManager(b.Context(), file.New(dir, log), sessions.Deps{Logger: log, Models: oneModel{modeltest.New()}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close() }()
	request := api.ListSessionsRequest{ProjectID: "prj_1", Limit: 50}
	for b.Loop() {
		if page, err := m.Page(request, nil); err != nil || len(page.Sessions) != 50 || page.Total != 5000 {
			b.Fatal(len(page.Sessions), page.Total, err)
		}
	}
}
