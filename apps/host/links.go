package host

import (
	"cmp"
	"context"
	"net"
	"net/http"

	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/uplink"
	"github.com/scorel/scorel/packages/protocol/api"
)

// relayURLs are the relays of the host, without one that runs beside it.
func (w *wiring) relayURLs() []string {
	switch {
	case w.cfg.NoRelay:
		return nil
	case len(w.cfg.RelayURLs) > 0:
		return w.cfg.RelayURLs
	}
	return w.config.RelayURLs
}

// links are the relays that the host connects to. An invite is a secret of one relay: only
// the first gets it.
func (w *wiring) links() ([]uplink.Link, error) {
	urls := w.relayURLs()
	if err := uplink.CheckURLs(urls); err != nil {
		return nil, state.Misconfigured(err)
	}
	var links []uplink.Link
	for i, url := range urls {
		link := uplink.Link{URL: url}
		if i == 0 {
			link.Invite = cmp.Or(w.cfg.Invite, w.config.Invite)
		}
		links = append(links, link)
	}
	if w.cfg.Beside != nil {
		links = append(links, w.beside())
	}
	return links, nil
}

// page is what the host serves at its own address besides the API; nil for nothing.
func (w *wiring) page() http.Handler {
	if w.cfg.Beside == nil {
		return nil
	}
	return w.cfg.Beside.Page
}

// beside is the relay that runs beside the host. It is dialed within the process, but logged
// in to like any other.
func (w *wiring) beside() uplink.Link {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return w.cfg.Beside.Dial(ctx) }
	link := uplink.Link{
		URL:  "http://" + w.listener.Addr().String(),
		HTTP: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
	}
	link.Places = func() (places []api.Path) {
		if w.cfg.Beside.Page != nil {
			places = append(places, api.Path{Kind: api.PathMachine, URL: link.URL})
		}
		for _, url := range w.cfg.Beside.Network() {
			places = append(places, api.Path{Kind: api.PathNetwork, URL: url})
		}
		return places
	}
	return link
}
