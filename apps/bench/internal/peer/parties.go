package peer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/sqlite"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// maxClients is how many clients a host has before they connect more than once, as
// people do with tabs: a host may have wire.MaxBindings.
const maxClients = 100

// Parties are the identities of a fleet.
type Parties struct {
	Hosts   []*ident.Private
	clients []*ident.Private
	perHost int // entries of a host
	tabs    int // entries of a client
}

// NewParties makes identities for hosts with perHost entries each.
func NewParties(hosts, perHost int) (*Parties, error) {
	p := &Parties{perHost: perHost, tabs: max(1, (perHost+maxClients-1)/maxClients)}
	var err error
	if p.Hosts, err = generate(ident.KindDevice, hosts); err != nil {
		return nil, err
	}
	p.clients, err = generate(ident.KindClient, hosts*p.clientsPerHost())
	return p, err
}

func (p *Parties) clientsPerHost() int { return (p.perHost + p.tabs - 1) / p.tabs }

// Host returns the host of entry i.
func (p *Parties) Host(i int) *ident.Private { return p.Hosts[i/p.perHost] }

// Entry returns the identity of entry i.
func (p *Parties) Entry(i int) *ident.Private {
	return p.clients[i/p.perHost*p.clientsPerHost()+i%p.perHost/p.tabs]
}

// ClientsOf returns the clients of a host.
func (p *Parties) ClientsOf(host int) []*ident.Private {
	return p.clients[host*p.clientsPerHost():][:p.clientsPerHost()]
}

func generate(kind ident.Kind, n int) ([]*ident.Private, error) {
	out := make([]*ident.Private, n)
	for i := range out {
		keys, err := ident.Generate(kind, rand.Reader)
		if err != nil {
			return nil, err
		}
		out[i] = keys
	}
	return out, nil
}

// WriteStore makes a relay's store in which all are bound, as if they had paired.
func (p *Parties) WriteStore(ctx context.Context, file string) (err error) {
	st, err := sqlite.Open(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	now := time.Now()
	for i, host := range p.Hosts {
		for _, entry := range p.ClientsOf(i) {
			if err := st.Bind(ctx, party(host), party(entry), now); err != nil {
				return fmt.Errorf("binding the parties: %w", err)
			}
		}
	}
	return nil
}

func party(keys *ident.Private) store.Party {
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: "bench"}
}
