package sessions_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// The pages are the list, also while a session is taken away between two of them and
// another one is made.
func TestPagesAreTheList(t *testing.T) {
	f := newFixture(t, modeltest.New())
	m := f.manager(t)
	for i := range 11 {
		if _, err := m.Create(t.Context(), f.project, "cli_x", fmt.Sprintf("k%d", i), ""); err != nil {
			t.Fatal(err)
		}
	}
	all := m.List("")
	var got []api.SessionSummary
	for request := (api.ListSessionsRequest{ProjectID: f.project.ID, Limit: 3}); ; {
		page, err := m.Page(request)
		if err != nil || len(page.Sessions) > 3 || page.Total != 11 {
			t.Fatalf("%d of %d sessions, %v", len(page.Sessions), page.Total, err)
		}
		if got = append(got, page.Sessions...); page.Next == "" {
			break
		}
		if len(got) == 6 { // the last that was given goes, and a newer one comes
			if err := m.Delete(t.Context(), got[5].ID); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Create(t.Context(), f.project, "cli_x", "new", ""); err != nil {
				t.Fatal(err)
			}
		}
		request.After = page.Next
	}
	if !slices.Equal(got, all) {
		t.Errorf("got %d sessions, want %d:\n%v\n%v", len(got), len(all), got, all)
	}
	if page, err := m.Page(api.ListSessionsRequest{}); err != nil || len(page.Sessions) != 11 || page.Next != "" {
		t.Errorf("all at once: %d sessions, next %q, %v", len(page.Sessions), page.Next, err)
	}
	for _, bad := range []api.ListSessionsRequest{{Limit: -1}, {Limit: 1, After: "x"}, {Limit: 1, After: "x.y"}, {Limit: 1, After: "1."}} {
		if _, err := m.Page(bad); err == nil {
			t.Errorf("%+v was answered", bad)
		}
	}
}
