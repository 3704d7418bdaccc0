package uplink

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"maps"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxPairings bounds the active pairings.
const maxPairings = 16

// pairingLasts bounds a pairing: its code may be redeemed just before it expires, and the person
// has as long to answer.
const pairingLasts = 2 * wire.PairTimeout

// Pairings are the active pairings that a person on this machine started, and answers
// the requests about them.
type Pairings struct {
	Options
	uplinks *Uplinks

	mu   sync.Mutex
	byID map[string]*hostPairing
}

type hostPairing struct {
	ceremony *client.Pairing
	ends     time.Time // when nobody can finish it any more

	mu       sync.Mutex // held while the ceremony is awaited or finished
	verified *wire.Peer // set once the other side proved that it knows the code
}

// NewPairings makes the handlers of pairing requests over the uplinks, with their options.
func NewPairings(u *Uplinks, o Options) *Pairings {
	return &Pairings{Options: o, uplinks: u, byID: map[string]*hostPairing{}}
}

// Endpoints are the requests about pairings.
func (p *Pairings) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.CreatePairing, p.create),
		dispatch.Serve(api.RedeemPairing, p.redeem),
		dispatch.Serve(api.AwaitPairing, p.await),
		dispatch.Serve(api.FinishPairing, p.finish),
	}
}

// add registers a pairing. Those that were left, because the person who began them went away,
// end with their codes.
func (p *Pairings) add(ceremony *client.Pairing) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	maps.DeleteFunc(p.byID, func(_ string, left *hostPairing) bool { return now.After(left.ends) })
	if len(p.byID) >= maxPairings {
		ceremony.Reject()
		return "", api.Errorf(api.KindPairing, "too many pairings are in progress: finish them, or wait until they expire")
	}
	id := rand.Text()
	p.byID[id] = &hostPairing{ceremony: ceremony, ends: now.Add(pairingLasts)}
	return id, nil
}

func (p *Pairings) get(id string) (*hostPairing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pairing, ok := p.byID[id]; ok {
		return pairing, nil
	}
	return nil, api.Errorf(api.KindNotFound, "unknown pairing: it has ended")
}

func (p *Pairings) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

func (p *Pairings) create(ctx context.Context, _ *dispatch.Conn, r api.CreatePairingRequest) (api.CreatePairingResponse, error) {
	at, page, err := p.uplinks.at(r.Relay)
	if err != nil {
		return api.CreatePairingResponse{}, err
	}
	relay, err := at[0].await(ctx)
	if err != nil {
		return api.CreatePairingResponse{}, err
	}
	ceremony, err := relay.pairings.Create(ctx)
	if err != nil {
		return api.CreatePairingResponse{}, pairingError(err)
	}
	id, err := p.add(ceremony)
	if err != nil {
		return api.CreatePairingResponse{}, err
	}
	code := ceremony.Code.Reveal()
	return api.CreatePairingResponse{
		PairingID: id, Code: code, URL: pairURL(page, code), ExpiresAt: ceremony.ExpiresAt.UnixMilli(),
	}, nil
}

// pairURL is the relay's page with the code in the fragment, which browsers do not send to
// servers.
func pairURL(relayURL, code string) string {
	u, err := url.Parse(relayURL)
	if err != nil {
		return ""
	}
	u.Scheme = strings.Replace(u.Scheme, "ws", "http", 1)
	u.Path = strings.TrimSuffix(u.Path, "/") + "/pair"
	u.Fragment = code
	return u.String()
}

func (p *Pairings) redeem(ctx context.Context, _ *dispatch.Conn, r api.RedeemPairingRequest) (api.RedeemPairingResponse, error) {
	code, err := pair.ParseCode(r.Code)
	if err != nil {
		return api.RedeemPairingResponse{}, api.Errorf(api.KindPairing, "%s", err)
	}
	at, _, err := p.uplinks.at(r.Relay)
	if err != nil {
		return api.RedeemPairingResponse{}, err
	}
	ceremony, err := redeemAt(ctx, at, code)
	if err != nil {
		return api.RedeemPairingResponse{}, err
	}
	id, err := p.add(ceremony)
	return api.RedeemPairingResponse{PairingID: id}, err
}

// redeemAt redeems a code at the first relay that knows it: a code does not tell people
// which one that is.
func redeemAt(ctx context.Context, at []*Uplink, code pair.Code) (*client.Pairing, error) {
	var first error
	for i, one := range at {
		if i > 0 && !one.connected() {
			continue // waiting for it would not help
		}
		relay, err := one.await(ctx)
		if err != nil {
			return nil, cmp.Or(first, err)
		}
		ceremony, err := relay.pairings.Redeem(ctx, code)
		if err == nil {
			return ceremony, nil
		}
		first = cmp.Or(first, pairingError(err))
		var refused *client.PairError
		if !errors.As(err, &refused) || refused.Kind != wire.KindPairUnknown {
			return nil, pairingError(err)
		}
	}
	return nil, first
}

func (p *Pairings) await(ctx context.Context, _ *dispatch.Conn, r api.PairingRequest) (api.AwaitPairingResponse, error) {
	pairing, err := p.get(r.PairingID)
	if err != nil {
		return api.AwaitPairingResponse{}, err
	}
	pairing.mu.Lock()
	defer pairing.mu.Unlock()
	if pairing.verified == nil {
		ctx, cancel := context.WithTimeoutCause(ctx, wire.PairTimeout, errors.New("the code has expired: request a new one"))
		defer cancel()
		peer, err := pairing.ceremony.Await(ctx)
		if err != nil {
			pairing.ceremony.Reject() // a code without a waiting host must not be used
			p.remove(r.PairingID)
			return api.AwaitPairingResponse{}, pairingError(err)
		}
		pairing.verified = &peer
	}
	return api.AwaitPairingResponse{ClientID: pairing.verified.ID, Label: pairing.verified.Label}, nil
}

// finish pins the client before it answers the relay, so that the host knows the client
// when its first channel opens.
func (p *Pairings) finish(ctx context.Context, _ *dispatch.Conn, r api.FinishPairingRequest) (api.FinishPairingResponse, error) {
	pairing, err := p.get(r.PairingID)
	if err != nil {
		return api.FinishPairingResponse{}, err
	}
	grants, limits, err := p.Choose(r.Grants, r.ClientLimits)
	if r.Accept && err != nil { // the pairing continues, and can be finished with another choice
		return api.FinishPairingResponse{}, err
	}
	defer p.remove(r.PairingID)
	if !r.Accept { // also while it is awaited, which then ends
		pairing.ceremony.Reject()
		return api.FinishPairingResponse{}, nil
	}
	pairing.mu.Lock()
	defer pairing.mu.Unlock()
	if pairing.verified == nil {
		pairing.ceremony.Reject()
		return api.FinishPairingResponse{}, api.Errorf(api.KindPairing, "the other side has not proven that it knows the code")
	}
	peer := *pairing.verified
	undo, err := p.Clients.Admit(state.Client{ID: peer.ID, Public: peer.Public, Label: peer.Label, Grants: grants, ClientLimits: limits})
	if err != nil {
		pairing.ceremony.Reject()
		return api.FinishPairingResponse{}, err
	}
	p.Paired(peer.ID)
	if _, err := pairing.ceremony.Accept(ctx); err != nil {
		err = errors.Join(err, undo())
		p.Paired(peer.ID) // a client that was known has what it had before
		return api.FinishPairingResponse{}, pairingError(err)
	}
	p.Logger.Info("client paired", "client", peer.ID)
	p.Notify(api.ClientsChanged{})
	return api.FinishPairingResponse{Paired: true}, nil
}

// pairingError returns the text of a failed pairing to the client.
func pairingError(err error) error {
	return api.Errorf(api.KindPairing, "%s", err)
}
