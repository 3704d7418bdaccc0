package uplink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Link is one relay of a host, and how others reach it.
type Link struct {
	URL    string       // that the host dials
	Invite string       // to the relay, if it asks newcomers for one
	HTTP   *http.Client // nil is the one of package relayconn
	// Places returns the kinds and URLs under which others find the relay now; nil means URL.
	Places func() []api.Path
}

func (l Link) places() []api.Path {
	if l.Places != nil {
		return l.Places()
	}
	return []api.Path{{Kind: api.PathRelay, URL: l.URL}}
}

// page returns the URL that people open.
func (l Link) page() string {
	if places := l.places(); len(places) > 0 {
		return places[0].URL
	}
	return l.URL
}

// maxRelays bounds the relays of a host: it stays connected to all of them.
const maxRelays = 8

// CheckURLs returns what is wrong with the URLs of a host's relays, or nil. The same relay
// twice is an error: the two connections would replace each other.
func CheckURLs(urls []string) error {
	if len(urls) > maxRelays {
		return fmt.Errorf("%d relays are listed, and a host uses at most %d: remove some", len(urls), maxRelays)
	}
	seen := map[string]string{}
	for _, url := range urls {
		target, _, err := relayconn.ParseURL(url)
		if err != nil {
			return err
		}
		if _, twice := seen[target.String()]; twice {
			return errors.New("the relay " + url + " is listed twice: list each relay once")
		}
		seen[target.String()] = url
	}
	return nil
}

// Uplinks are the connections of a host to its relays. Each keeps itself connected; the
// methods may be called from any goroutine.
type Uplinks struct {
	all []*Uplink // static after construction; in the order of preference
	Options

	settling sync.Mutex // one settle at a time
}

// NewAll makes one uplink for each link, which are not connected yet.
func NewAll(links []Link, o Options) *Uplinks {
	u := &Uplinks{Options: o}
	for _, link := range links {
		u.all = append(u.all, newUplink(u, link, o))
	}
	return u
}

// Run keeps all connections until ctx ends, and returns when every channel has ended.
func (u *Uplinks) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, one := range u.all {
		running.Go(func() { one.Run(ctx) })
	}
	running.Wait()
}

// Renew has all uplinks log in again, with the label of now.
func (u *Uplinks) Renew(ctx context.Context) {
	var renewing sync.WaitGroup
	for _, one := range u.all {
		renewing.Go(func() { one.Renew(ctx) })
	}
	renewing.Wait()
}

// Status returns the URL of the first relay and its state as in api.Path.
func (u *Uplinks) Status() (url, state string) {
	for _, path := range u.Paths() {
		if path.Kind == api.PathRelay {
			return path.URL, path.State
		}
	}
	return "", api.PathOff
}

// URLs returns the URLs of all paths.
func (u *Uplinks) URLs() []string {
	var urls []string
	for _, path := range u.Paths() {
		urls = append(urls, path.URL)
	}
	return urls
}

// Paths returns all paths to this device.
func (u *Uplinks) Paths() []api.Path {
	paths := []api.Path{}
	for _, one := range u.all {
		paths = append(paths, one.Paths()...)
	}
	return paths
}

// CloseClient closes the channels of a client, over all relays.
func (u *Uplinks) CloseClient(id ident.ID, reason wire.Reason) {
	for _, one := range u.all {
		one.CloseClient(id, reason)
	}
}

// Revoke asks every relay to end the binding of a client. One that cannot be reached is
// asked at its next login.
func (u *Uplinks) Revoke(ctx context.Context, id ident.ID) {
	var asking sync.WaitGroup
	for _, one := range u.all {
		asking.Go(func() { one.Revoke(ctx, id) })
	}
	asking.Wait()
}

// left removes a client that ended a binding, once no relay holds one for it any more.
func (u *Uplinks) left(id ident.ID) {
	if err := u.Clients.MarkLeft(id); err != nil {
		u.Logger.Error("recording that a client ended a binding", "client", id, "error", err)
	}
	u.settle()
}

// settle removes the clients that ended a binding and have none left. The list keeps who ended
// one, so that a relay that was away is asked after a restart too.
func (u *Uplinks) settle() {
	u.settling.Lock()
	defer u.settling.Unlock()
	for _, client := range u.Clients.List() {
		if !client.Left {
			continue
		}
		if slices.ContainsFunc(u.all, func(one *Uplink) bool { return one.holds(client.ID) }) {
			u.Logger.Info("a client ended its binding at one relay and has others", "client", client.ID)
			continue
		}
		if _, err := u.Remove(client.ID); err != nil {
			u.Logger.Error("removing a client that ended its bindings", "client", client.ID, "error", err)
		}
	}
}

// at returns the uplinks that a request about pairing means: those of a relay, or all of
// them, the connected ones first, if url is "". page is the URL that people open.
func (u *Uplinks) at(url string) (found []*Uplink, page string, err error) {
	if len(u.all) == 0 {
		return nil, "", api.Errorf(api.KindUnavailable, "this host runs without a relay: restart it with --relay URL")
	}
	if url == "" {
		found = slices.Clone(u.all)
		slices.SortStableFunc(found, func(a, b *Uplink) int { return cmp.Compare(b.rank(), a.rank()) })
		return found, found[0].page(), nil
	}
	var known []string
	for _, one := range u.all {
		for _, place := range one.places() {
			if sameURL(place.URL, url) {
				return []*Uplink{one}, place.URL, nil
			}
			known = append(known, place.URL)
		}
	}
	return nil, "", api.Errorf(api.KindPairing, "this host does not use the relay %.200q: use one of %s", url, strings.Join(known, ", "))
}

// sameURL reports whether two URLs dial the same relay.
func sameURL(a, b string) bool {
	one, _, err := relayconn.ParseURL(a)
	if err != nil {
		return false
	}
	other, _, err := relayconn.ParseURL(b)
	return err == nil && one.String() == other.String()
}
