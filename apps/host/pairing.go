package host

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/pair"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// maxPairings bounds the ceremonies under way.
const maxPairings = 16

// pairings are the ceremonies that somebody on this machine started.
type pairings struct {
	host *Host

	mu   sync.Mutex
	byID map[string]*hostPairing
}

type hostPairing struct {
	ceremony *client.Pairing

	mu       sync.Mutex // held while the ceremony is awaited or finished
	verified *wire.Peer // set once the other side proved that it knows the code
}

func newPairings(h *Host) *pairings { return &pairings{host: h, byID: map[string]*hostPairing{}} }

func (p *pairings) add(ceremony *client.Pairing) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.byID) >= maxPairings {
		ceremony.Reject()
		return "", api.Errorf(api.KindPairing, "too many pairings are under way: finish or wait for the others")
	}
	id := rand.Text()
	p.byID[id] = &hostPairing{ceremony: ceremony}
	return id, nil
}

func (p *pairings) get(id string) (*hostPairing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if pairing, ok := p.byID[id]; ok {
		return pairing, nil
	}
	return nil, api.Errorf(api.KindNotFound, "no such pairing: it has ended")
}

func (p *pairings) remove(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.byID, id)
}

func (h *Host) createPairing(ctx context.Context, _ *conn, _ api.Empty) (api.CreatePairingResponse, error) {
	relay, err := h.uplink.await(ctx)
	if err != nil {
		return api.CreatePairingResponse{}, err
	}
	ceremony, err := relay.pairings.Create(ctx)
	if err != nil {
		return api.CreatePairingResponse{}, pairingError(err)
	}
	id, err := h.pairings.add(ceremony)
	if err != nil {
		return api.CreatePairingResponse{}, err
	}
	code := ceremony.Code.Reveal()
	return api.CreatePairingResponse{
		PairingID: id, Code: code, URL: pairURL(h.uplink.url, code), ExpiresAt: ceremony.ExpiresAt.UnixMilli(),
	}, nil
}

// pairURL is the relay's page with the code in the fragment, which a browser never
// sends to a server.
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

func (h *Host) redeemPairing(ctx context.Context, _ *conn, r api.RedeemPairingRequest) (api.RedeemPairingResponse, error) {
	code, err := pair.ParseCode(r.Code)
	if err != nil {
		return api.RedeemPairingResponse{}, api.Errorf(api.KindPairing, "%s", err)
	}
	relay, err := h.uplink.await(ctx)
	if err != nil {
		return api.RedeemPairingResponse{}, err
	}
	ceremony, err := relay.pairings.Redeem(ctx, code)
	if err != nil {
		return api.RedeemPairingResponse{}, pairingError(err)
	}
	id, err := h.pairings.add(ceremony)
	return api.RedeemPairingResponse{PairingID: id}, err
}

func (h *Host) awaitPairing(ctx context.Context, _ *conn, r api.PairingRequest) (api.AwaitPairingResponse, error) {
	pairing, err := h.pairings.get(r.PairingID)
	if err != nil {
		return api.AwaitPairingResponse{}, err
	}
	pairing.mu.Lock()
	defer pairing.mu.Unlock()
	if pairing.verified == nil {
		ctx, cancel := context.WithTimeoutCause(ctx, wire.PairTimeout, errors.New("the code has expired: ask for a new one"))
		defer cancel()
		peer, err := pairing.ceremony.Await(ctx)
		if err != nil {
			pairing.ceremony.Reject() // a code that nobody waits for is worth nothing
			h.pairings.remove(r.PairingID)
			return api.AwaitPairingResponse{}, pairingError(err)
		}
		pairing.verified = &peer
	}
	return api.AwaitPairingResponse{ClientID: pairing.verified.ID, Label: pairing.verified.Label}, nil
}

// finishPairing pins the client before it tells the relay, so that the client is
// known when its first channel comes.
func (h *Host) finishPairing(ctx context.Context, _ *conn, r api.FinishPairingRequest) (api.FinishPairingResponse, error) {
	pairing, err := h.pairings.get(r.PairingID)
	if err != nil {
		return api.FinishPairingResponse{}, err
	}
	defer h.pairings.remove(r.PairingID)
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
	_, renewed := h.clients.Get(peer.ID)
	if err := h.clients.Add(peer.ID, peer.Public, peer.Label); err != nil {
		pairing.ceremony.Reject()
		return api.FinishPairingResponse{}, err
	}
	if _, err := pairing.ceremony.Accept(ctx); err != nil {
		if !renewed {
			_, undoErr := h.clients.Remove(peer.ID)
			err = errors.Join(err, undoErr)
		}
		return api.FinishPairingResponse{}, pairingError(err)
	}
	h.log.Info("client paired", "client", peer.ID)
	h.tell(api.ClientsChanged{})
	return api.FinishPairingResponse{Paired: true}, nil
}

// pairingError gives the entry the sentence of the ceremony.
func pairingError(err error) error {
	return api.Errorf(api.KindPairing, "%s", err)
}
