package sessions

import (
	"context"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// history shows the tree of a session and moves in it. The session's goroutine owns it.
type history struct {
	*core
	turns     *turns
	summaries *summaries
}

// Rewind moves the leaf back on its path.
func (h *history) Rewind(ctx context.Context, clientID string, r api.RewindSessionRequest) (api.MoveLeafResponse, error) {
	return h.moveLeaf(ctx, move{
		clientID: clientID, clientKey: r.ClientKey, expected: r.ExpectedLeaf, target: r.TargetEntryID, check: read.CheckRewind,
	})
}

// Navigate moves the leaf anywhere in the tree.
func (h *history) Navigate(ctx context.Context, clientID string, r api.NavigateSessionRequest) (api.MoveLeafResponse, error) {
	return h.moveLeaf(ctx, move{
		clientID: clientID, clientKey: r.ClientKey, expected: r.ExpectedLeaf, target: r.TargetEntryID, summarize: r.Summarize,
		check: func(*session.Tree, read.Place) error { return nil },
	})
}

// move is a request to move the leaf.
type move struct {
	clientID, clientKey string
	expected, target    string
	summarize           bool
	check               func(*session.Tree, read.Place) error
}

func (h *history) moveLeaf(ctx context.Context, m move) (response api.MoveLeafResponse, err error) {
	if err := checkKey(m.clientKey); err != nil {
		return response, err
	}
	return inside(ctx, &h.owner, func() (api.MoveLeafResponse, error) { return h.moveNow(m) })
}

func checkKey(key string) error {
	if key == "" || len(key) > api.MaxClientKey {
		return api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	}
	return nil
}

func (h *history) moveNow(m move) (api.MoveLeafResponse, error) {
	tree := h.log.Tree()
	p, err := read.PlaceFor(tree, m.target)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	if _, done := h.done[m.clientKey]; done {
		return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text, Content: p.Content}, nil
	}
	if h.summaries.running != nil && h.summaries.running.key == m.clientKey {
		return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text, Content: p.Content, Working: true}, nil
	}
	if err := h.summaries.checkIdle(); err != nil {
		return api.MoveLeafResponse{}, err
	}
	if tree.Leaf() != m.expected {
		return api.MoveLeafResponse{}, api.Errorf(api.KindConflict, "the session has changed in the meantime: its last entry is %q, not %.64q; review it, then repeat this", tree.Leaf(), m.expected)
	}
	if err := m.check(tree, p); err != nil {
		return api.MoveLeafResponse{}, err
	}
	if m.summarize {
		working, err := h.summaries.leaveBranch(m, p)
		if working || err != nil {
			return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text, Content: p.Content, Working: working}, err
		}
	}
	entry, err := h.append(store.Mark{ClientID: m.clientID, ClientKey: m.clientKey}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		if p.Leaf == "" {
			return h.log.ResetLeaf(ctx, mark)
		}
		return h.log.SwitchLeaf(ctx, mark, p.Leaf)
	})
	h.updateSummary()
	return api.MoveLeafResponse{LeafID: entry.ID, Text: p.Text, Content: p.Content}, err
}

// SetLabel labels an entry; "" takes the label off.
func (h *history) SetLabel(ctx context.Context, clientID string, r api.SetLabelRequest) (err error) {
	label := strings.Join(strings.Fields(r.Label), " ")
	if err := checkKey(r.ClientKey); err != nil {
		return err
	}
	if len(label) > api.MaxLabel {
		return api.Errorf(api.KindTooLarge, "the label has %d bytes, the limit is %d", len(label), api.MaxLabel)
	}
	return h.change(ctx, func() error { return h.labelNow(clientID, r, label) })
}

func (h *history) labelNow(clientID string, r api.SetLabelRequest, label string) error {
	if _, done := h.done[r.ClientKey]; done {
		return nil
	}
	tree := h.log.Tree()
	if _, ok := tree.Get(r.EntryID); !ok {
		return api.Errorf(api.KindNotFound, "this session has no entry %.64q: request its tree to see the ids", r.EntryID)
	}
	text := &label
	if label == "" {
		text = nil
	}
	_, err := h.append(store.Mark{ClientID: clientID, ClientKey: r.ClientKey}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return h.log.AppendLabel(ctx, mark, r.EntryID, text)
	})
	h.updateSummary()
	return err
}

// Outline gives the session's tree in short.
func (h *history) Outline(ctx context.Context) (response api.GetTreeResponse, err error) {
	err = h.do(ctx, func() { response = read.Outline(h.log.Tree()) })
	return response, clientError(err)
}

// Versions lists the session's user messages that have other versions.
func (h *history) Versions(ctx context.Context) (response api.ListVersionsResponse, err error) {
	err = h.do(ctx, func() { response = read.Versions(h.log.Tree()) })
	return response, clientError(err)
}
