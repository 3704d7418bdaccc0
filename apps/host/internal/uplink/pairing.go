package uplink

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxPairings bounds the active pairings.
const maxPairings = 16

// Pairings are the active pairings that a person on this machine started, and answers
// the requests about them.
type Pairings struct {
	uplink *Uplink

	mu   sync.Mutex
	byID map[string]*hostPairing
}

type hostPairing struct {
	ceremony *client.Pairing

	mu       sync.Mutex // held while the ceremony is awaited or finished
	verified *wire.Peer // set once the other side proved that it knows the code
}

// NewPairings makes the handlers of pairing requests over an uplink.
func NewPairings(u *Uplink) *Pairings { return &Pairings{uplink: u, byID: map[string]*hostPairing{}} }

// Endpoints are the requests about pairings.
func (p *Pairings) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.CreatePairing, p.create),
		dispatch.Serve(api.RedeemPairing, p.redeem),
		dispatch.Serve(api.AwaitPairing, p.await),
		dispatch.Serve(api.FinishPairing, p.finish),
	}
}

func (p *Pairings) add(ceremony *client.Pairing) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byID) >= maxPairings {
		ceremony.Reject()
		return "", api.Errorf(api.KindPairing, "too many pairings are in progress: finish them, or wait until they expire")
	}
	id := rand.Text()
	p.byID[id] = &hostPairing{ceremony: ceremony}
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

func (p *Pairings) create(ctx context.Context, _ *dispatch.Conn, _ api.Empty) (api.CreatePairingResponse, error) {
	relay, err := p.uplink.await(ctx)
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
		PairingID: id, Code: code, URL: pairURL(p.uplink.URL, code), ExpiresAt: ceremony.ExpiresAt.UnixMilli(),
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
	relay, err := p.uplink.await(ctx)
	if err != nil {
		return api.RedeemPairingResponse{}, err
	}
	ceremony, err := relay.pairings.Redeem(ctx, code)
	if err != nil {
		return api.RedeemPairingResponse{}, pairingError(err)
	}
	id, err := p.add(ceremony)
	return api.RedeemPairingResponse{PairingID: id}, err
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
	_, renewed := p.uplink.Clients.Get(peer.ID)
	if err := p.uplink.Clients.Add(peer.ID, peer.Public, peer.Label); err != nil {
		pairing.ceremony.Reject()
		return api.FinishPairingResponse{}, err
	}
	p.uplink.Paired(peer.ID)
	if _, err := pairing.ceremony.Accept(ctx); err != nil {
		if !renewed {
			_, undoErr := p.uplink.Clients.Remove(peer.ID)
			err = errors.Join(err, undoErr)
		}
		return api.FinishPairingResponse{}, pairingError(err)
	}
	p.uplink.Logger.Info("client paired", "client", peer.ID)
	p.uplink.Notify(api.ClientsChanged{})
	return api.FinishPairingResponse{Paired: true}, nil
}

// pairingError returns the text of a failed pairing to the client.
func pairingError(err error) error {
	return api.Errorf(api.KindPairing, "%s", err)
}
