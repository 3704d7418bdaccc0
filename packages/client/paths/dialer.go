package paths

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Dialer dials paths of one device. Keys, Device and Seal are required.
type Dialer struct {
	Keys  *ident.Private // of the client
	Label string         // of the client, for relays

	// Invite is for the relay at InviteURL, if it requires one from new ids. An invite is a
	// secret of one relay: no other path gets it.
	Invite, InviteURL string

	Device ident.ID
	Seal   ident.SealPublic // pinned
	Name   string           // of the device, for errors

	// Proof returns the device's signature for this client, with which a relay that does not
	// know the pairing stores it; nil, or a nil proof, leaves it.
	Proof func() *api.BindingProof
	// Local connects directly to the host on this machine, for the path Direct.
	Local func(ctx context.Context) (client.Transport, error)
	// HTTPClient dials relays; nil honors the proxies of the environment.
	HTTPClient *http.Client
	// Standby keeps connections to relays at which the device is offline; nil closes them.
	Standby *client.Standby
	// Timeout bounds the attempt at one path, whatever its other end does; 0 means 30 s.
	Timeout time.Duration
	// AgainTimeout bounds the attempt over a connection that Standby kept: see its method Again.
	AgainTimeout time.Duration
}

// dialTimeout is enough for a slow relay and a claim.
const dialTimeout = 30 * time.Second

// claimTimeout bounds the wait for a relay that may be too old to know claims.
const claimTimeout = 5 * time.Second

// Dial implements the Dial of a Config.
func (d *Dialer) Dial(ctx context.Context, path Path) (*Channel, error) {
	timeout := cmp.Or(d.Timeout, dialTimeout)
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: no sealed channel within %s", relayconn.ErrUnreachable, timeout))
	defer cancel()
	if path == Direct {
		return d.dialLocal(ctx)
	}
	var (
		transport client.Transport
		trip      time.Duration
	)
	open := func(ctx context.Context, entry *client.Entry) (err error) {
		transport, trip, err = d.open(ctx, entry)
		return err
	}
	entry, err := d.Standby.Again(ctx, path.Key(), d.AgainTimeout, open)
	if entry == nil {
		if entry, err = client.DialEntry(ctx, relayconn.Config{
			RelayURL: path.URL, Keys: d.Keys, Label: d.Label, Invite: d.inviteTo(path), HTTPClient: d.HTTPClient, NoProxy: !path.Remote(),
		}); err != nil {
			return nil, err
		}
		err = open(ctx, entry)
	}
	if err != nil {
		if ctx.Err() == nil {
			d.Standby.Hold(path.Key(), entry)
		} else {
			entry.Close()
		}
		return nil, err
	}
	d.Standby.Opened()
	return &Channel{
		Transport: &overEntry{transport, sync.OnceFunc(func() { d.Standby.Ended(path.Key(), entry) })},
		RoundTrip: trip,
		Open: func(ctx context.Context) (client.Transport, error) {
			return entry.OpenDevice(ctx, d.Device, d.Seal, d.Name)
		},
	}, nil
}

func (d *Dialer) inviteTo(path Path) string {
	if path.Key() != (Path{Kind: Relay, URL: d.InviteURL}).Key() {
		return ""
	}
	return d.Invite
}

func (d *Dialer) dialLocal(ctx context.Context) (*Channel, error) {
	if d.Local == nil {
		return nil, client.ErrDirect
	}
	start := time.Now()
	transport, err := d.Local(ctx)
	if err != nil {
		return nil, err
	}
	return &Channel{Transport: transport, RoundTrip: time.Since(start)}, nil
}

// open opens a sealed channel, and has the relay store the pairing if it does not know it.
func (d *Dialer) open(ctx context.Context, entry *client.Entry) (client.Transport, time.Duration, error) {
	channel, err := entry.OpenChannel(ctx, d.Device)
	if refused := new(wire.Error); errors.As(err, &refused) && refused.Kind == wire.KindUnauthorized {
		if claimed := d.claim(ctx, entry); claimed {
			channel, err = entry.OpenChannel(ctx, d.Device)
		}
	}
	if err != nil {
		return nil, 0, client.DescribeOpen(err, d.Name)
	}
	start := time.Now()
	if err := entry.Seal(ctx, channel, d.Device, d.Seal); err != nil {
		return nil, 0, client.DescribeOpen(err, d.Name)
	}
	return channel, time.Since(start), nil
}

// claim reports whether the relay has stored the binding.
func (d *Dialer) claim(ctx context.Context, entry *client.Entry) bool {
	if d.Proof == nil {
		return false
	}
	proof := d.Proof()
	if proof == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	return entry.Claim(ctx, d.Device, *proof) == nil // the refusal of the channel says what to do
}

// overEntry is a channel that gives up its connection with it.
type overEntry struct {
	client.Transport
	release func()
}

func (o *overEntry) Close() error {
	err := o.Transport.Close()
	o.release()
	return err
}
