package worktrees_test

import (
	"log/slog"
	"maps"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/worktrees"
)

type uses map[string]state.WorktreeUse

// TestDeletedTwiceAtOnce: of two requests that delete one session, the one that fails takes back
// nothing of the other.
func TestDeletedTwiceAtOnce(t *testing.T) {
	list, err := state.LoadWorktrees(filepath.Join(t.TempDir(), "worktrees.json"))
	if err != nil {
		t.Fatal(err)
	}
	w := worktrees.New(worktrees.Options{Logger: slog.New(slog.DiscardHandler), List: list})
	begin := func() {
		t.Helper()
		if err := list.Change("a", func(t *state.Worktree) {
			t.State, t.Sessions = state.WorktreeRemoved, uses{"a": state.UseActive}
		}); err != nil {
			t.Fatal(err)
		}
	}
	has := func(when string, want uses) {
		t.Helper()
		if found, _ := list.Of("a"); !maps.Equal(found.Sessions, want) {
			t.Errorf("%s: the sessions are %v, want %v", when, found.Sessions, want)
		}
	}

	begin()
	w.Deleting("a")
	undo := w.Deleting("a")
	w.Forget(t.Context(), "a") // the first one
	undo()
	has("after the second one failed", nil)

	begin()
	first, second := w.Deleting("a"), w.Deleting("a")
	first()
	second()
	has("after both failed", uses{"a": state.UseActive})

	undo = w.Deleting("a")
	w.Forget(t.Context(), "a")
	undo()
	has("after it was taken back too late", nil)
	if left := list.List(); len(left) > 0 {
		t.Errorf("left are %+v", left)
	}
}
