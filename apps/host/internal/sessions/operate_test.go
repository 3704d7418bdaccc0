package sessions_test

import (
	"fmt"

	"github.com/scorel/scorel/packages/protocol/api"
)

// operate does something random to the history.
func (h *history) operate(turn int) {
	t, key := h.t, fmt.Sprintf("op%d", turn)
	tree, err := h.s.Outline(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var targets []string
	for _, node := range tree.Nodes {
		if node.Target {
			targets = append(targets, node.ID)
		}
	}
	target := targets[h.random.IntN(len(targets))]
	switch h.random.IntN(5) {
	case 0:
		err = h.s.SetLabel(t.Context(), "cli_x", api.SetLabelRequest{ClientKey: key, EntryID: target, Label: key})
	case 1:
		_, err = h.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{ClientKey: key, ExpectedLeaf: tree.LeafID, TargetEntryID: target})
	case 2:
		_, err = h.s.Navigate(t.Context(), "cli_x", api.NavigateSessionRequest{
			ClientKey: key, ExpectedLeaf: tree.LeafID, TargetEntryID: target, Summarize: true,
		})
	case 3:
		// A short session has nothing to compact, and says so.
		_, _ = h.s.Compact(t.Context(), "cli_x", api.CompactSessionRequest{ClientKey: key})
	case 4:
		_, _ = h.s.Rewind(t.Context(), "cli_x", api.RewindSessionRequest{ClientKey: key, ExpectedLeaf: tree.LeafID, TargetEntryID: target})
	}
	if err != nil {
		t.Fatal(err)
	}
	h.recorder.wait(func() bool { return h.recorder.live.Work == nil })
}
