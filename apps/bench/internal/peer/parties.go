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

// Parties are the identities of a fleet. Entry i is bound to host i/PerHost.
type Parties struct {
	Hosts, Entries []*ident.Private
	PerHost        int
}

// NewParties makes identities.
func NewParties(hosts, perHost int) (*Parties, error) {
	p := &Parties{PerHost: perHost}
	var err error
	if p.Hosts, err = generate(ident.KindDevice, hosts); err != nil {
		return nil, err
	}
	p.Entries, err = generate(ident.KindClient, hosts*perHost)
	return p, err
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
	for i, entry := range p.Entries {
		if err := st.Bind(ctx, party(p.Hosts[i/p.PerHost]), party(entry), now); err != nil {
			return fmt.Errorf("binding the parties: %w", err)
		}
	}
	return nil
}

func party(keys *ident.Private) store.Party {
	return store.Party{ID: keys.ID(), Public: keys.Public(), Label: "bench"}
}
