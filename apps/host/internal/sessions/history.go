package sessions

import (
	"context"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Rewind moves the leaf back on its path.
func (s *Session) Rewind(ctx context.Context, clientID string, r api.RewindSessionRequest) (api.MoveLeafResponse, error) {
	return s.moveLeaf(ctx, move{
		clientID: clientID, clientKey: r.ClientKey, expected: r.ExpectedLeaf, target: r.TargetEntryID, check: read.CheckRewind,
	})
}

// Navigate moves the leaf anywhere in the tree.
func (s *Session) Navigate(ctx context.Context, clientID string, r api.NavigateSessionRequest) (api.MoveLeafResponse, error) {
	return s.moveLeaf(ctx, move{
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

func (s *Session) moveLeaf(ctx context.Context, m move) (response api.MoveLeafResponse, err error) {
	if err := checkKey(m.clientKey); err != nil {
		return response, err
	}
	doErr := s.do(ctx, func() { response, err = s.moveNow(m) })
	if doErr != nil {
		return response, refuse(doErr)
	}
	return response, refuse(err)
}

func checkKey(key string) error {
	if key == "" || len(key) > api.MaxClientKey {
		return api.Errorf(api.KindBadRequest, "clientKey must have 1 to %d bytes", api.MaxClientKey)
	}
	return nil
}

func (s *Session) moveNow(m move) (api.MoveLeafResponse, error) {
	tree := s.log.Tree()
	p, err := read.PlaceFor(tree, m.target)
	if err != nil {
		return api.MoveLeafResponse{}, err
	}
	if _, done := s.done[m.clientKey]; done {
		return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text}, nil
	}
	if s.work != nil && s.work.key == m.clientKey {
		return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text, Working: true}, nil
	}
	if err := s.idle(); err != nil {
		return api.MoveLeafResponse{}, err
	}
	if tree.Leaf() != m.expected {
		return api.MoveLeafResponse{}, api.Errorf(api.KindConflict, "the session went on meanwhile: its last entry is %q and not %.64q; look at it again, then repeat this", tree.Leaf(), m.expected)
	}
	if err := m.check(tree, p); err != nil {
		return api.MoveLeafResponse{}, err
	}
	if m.summarize {
		working, err := s.leaveBranch(m, p)
		if working || err != nil {
			return api.MoveLeafResponse{LeafID: tree.Leaf(), Text: p.Text, Working: working}, err
		}
	}
	entry, err := s.keep(store.Mark{ClientID: m.clientID, ClientKey: m.clientKey}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		if p.Leaf == "" {
			return s.log.ResetLeaf(ctx, mark)
		}
		return s.log.SwitchLeaf(ctx, mark, p.Leaf)
	})
	s.touch()
	return api.MoveLeafResponse{LeafID: entry.ID, Text: p.Text}, err
}

// idle refuses while the session works on something.
func (s *Session) idle() error {
	switch {
	case s.closing:
		return ErrClosed
	case s.turn != nil:
		return api.Errorf(api.KindConflict, "a turn is running: wait for its end or cancel it, then repeat this")
	case s.work != nil:
		return api.Errorf(api.KindConflict, "the host makes a summary of this session: wait for its end, then repeat this")
	}
	return nil
}

// SetLabel labels an entry; "" takes the label off.
func (s *Session) SetLabel(ctx context.Context, clientID string, r api.SetLabelRequest) (err error) {
	label := strings.Join(strings.Fields(r.Label), " ")
	if err := checkKey(r.ClientKey); err != nil {
		return err
	}
	if len(label) > api.MaxLabel {
		return api.Errorf(api.KindTooLarge, "the label has %d bytes, the limit is %d", len(label), api.MaxLabel)
	}
	doErr := s.do(ctx, func() { err = s.labelNow(clientID, r, label) })
	if doErr != nil {
		return refuse(doErr)
	}
	return refuse(err)
}

func (s *Session) labelNow(clientID string, r api.SetLabelRequest, label string) error {
	if _, done := s.done[r.ClientKey]; done {
		return nil
	}
	tree := s.log.Tree()
	if _, ok := tree.Get(r.EntryID); !ok {
		return api.Errorf(api.KindNotFound, "this session has no entry %.64q: ask for its tree to see the ids", r.EntryID)
	}
	text := &label
	if label == "" {
		text = nil
	}
	_, err := s.keep(store.Mark{ClientID: clientID, ClientKey: r.ClientKey}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return s.log.AppendLabel(ctx, mark, r.EntryID, text)
	})
	s.touch()
	return err
}

// Outline gives the session's tree in short.
func (s *Session) Outline(ctx context.Context) (response api.GetTreeResponse, err error) {
	err = s.do(ctx, func() { response = read.Outline(s.log.Tree()) })
	return response, refuse(err)
}
