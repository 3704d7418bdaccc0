package moves

import (
	"context"
	"errors"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// peer is the target, as the source reaches it.
type peer struct {
	client *client.Client
	moveID string
}

// answerWithin bounds the wait for one answer. Checking a large move takes long.
const (
	answerWithin = time.Minute
	checkWithin  = 15 * time.Minute
)

// dialing is how a source connects to targets: as a client of its own.
type dialing struct {
	keys  string        // the file with the keys of the client
	label func() string // of the device
	// invite is for the relay at inviteURL, if it asks newcomers for one.
	invite, inviteURL string
}

// with connects to the target of a move, sealed to the keys that the person's client has pinned.
func (d *dialing) with(ctx context.Context, r record, do func(*peer) error) error {
	if r.Start == nil {
		return errors.New("moves: the move was not started")
	}
	keys, err := keyfile.Load(d.keys, ident.KindClient)
	if err != nil {
		return err
	}
	proof := r.Start.Proof
	dialer := &paths.Dialer{
		Keys: keys, Label: d.label(), Invite: d.invite, InviteURL: d.inviteURL, Device: r.To, Seal: r.Start.Keys.Seal, Name: r.To.String(),
		Proof: func() *api.BindingProof { return &proof },
	}
	var known []paths.Known
	for _, path := range r.Start.Paths {
		known = append(known, paths.Known{Path: paths.Path{Kind: paths.Kind(path.Kind), URL: path.URL}})
	}
	device := paths.New(paths.Config{Known: func() ([]paths.Known, error) { return known, nil }, Dial: dialer.Dial})
	defer func() { _ = device.Close() }() // nothing is prepared
	dialing, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	transport, err := device.Dial(dialing)
	if err != nil {
		return err
	}
	c := client.New(transport, nil)
	defer func() { _ = c.Close() }() // what counts was answered
	return do(&peer{client: c, moveID: r.ID})
}

// ask sends one request, and does not wait forever.
func ask[Request, Response any](ctx context.Context, p *peer, within time.Duration, to api.Definition[Request, Response], request Request) (Response, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return client.Call(ctx, p.client, to, request)
}

func (p *peer) end(ctx context.Context, outcome api.MoveOutcome) error {
	_, err := ask(ctx, p, checkWithin, api.EndMove, api.EndMoveRequest{MoveID: p.moveID, Outcome: outcome})
	return err
}

// commit tells the target that the session is its own. gaveUp reports that it has stored that it
// will never take the session.
func (p *peer) commit(ctx context.Context) (gaveUp bool, err error) {
	err = p.end(ctx, api.MoveCommit)
	var refused *api.Error
	if !errors.As(err, &refused) || refused.Kind != api.KindBadRequest {
		return false, err
	}
	status, statusErr := ask(ctx, p, answerWithin, api.MoveStatus, api.MoveRequest{MoveID: p.moveID})
	if statusErr == nil && status.State == api.MoveCanceled {
		return true, nil
	}
	return false, err
}
