package proxies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/sync/errgroup"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	pingInterval = 400 * time.Millisecond
	// idlePings pings of one peer, at least 0.8 intervals apart, take longer than idleTimeout.
	idlePings = int(idleTimeout*10/8/pingInterval) + 2
)

func TestProxiesCarryPeers(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			cert := newCertificate(t)
			s.startRelay(t, cert, relay.Limits{PingInterval: pingInterval})
			s.start(t, cert)
			s.checkRequests(t, client(t, firstClient, cert, nil))

			pings := make(chan struct{}, 2*idlePings)
			server := relaytest.At(publicURL, client(t, firstClient, cert, nil), func() {
				select {
				case pings <- struct{}{}:
				default: // more than anyone waits for
				}
			})
			host, entry := server.PairedPeers(t)
			onEntry, onHost := relaytest.Open(t, entry, host)
			sendLargest(t, entry, onEntry, host, onHost)
			sendLargest(t, host, onHost, entry, onEntry)
			stayIdle(t, pings, entry, onEntry, host, onHost)
		})
	}
}

// sendLargest sends the largest message that a relay accepts.
func sendLargest(t *testing.T, from *relaytest.Peer, onFrom uint32, to *relaytest.Peer, onTo uint32) {
	t.Helper()
	var message []byte
	payload := bytes.Repeat([]byte{7}, wire.MaxRecordPayload)
	count := wire.MaxMessage / wire.MaxRecord
	for range count {
		message = wire.AppendRecord(message, onFrom, payload)
	}
	from.SendMessage(websocket.MessageBinary, message)
	for range count {
		to.ExpectRecord(onTo, payload)
	}
}

// stayIdle sends nothing until each peer has got so many pings that the proxy would have cut a
// silent connection. The channel works afterwards.
func stayIdle(t *testing.T, pings <-chan struct{}, entry *relaytest.Peer, onEntry uint32, host *relaytest.Peer, onHost uint32) {
	t.Helper()
	var both errgroup.Group
	for _, p := range []*relaytest.Peer{entry, host} {
		both.Go(func() error { // pings arrive while a peer reads
			_, record, err := p.Next()
			if err == nil && (record == nil || string(record.Payload) != "still here") {
				err = errors.New("something else arrived")
			}
			return err
		})
	}
	for range 2 * idlePings {
		select {
		case <-pings:
		case <-time.After(patience):
			t.Fatal("no pings arrive")
		}
	}
	entry.SendRecord(onEntry, []byte("still here"))
	host.SendRecord(onHost, []byte("still here"))
	if err := both.Wait(); err != nil {
		t.Fatalf("after an idle time: %v", err)
	}
}

// TestProxiesCutSilence shows that the timeout of TestProxiesCarryPeers is in force: without
// pings the proxy ends an idle connection.
func TestProxiesCutSilence(t *testing.T) {
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			cert := newCertificate(t)
			s.startRelay(t, cert, relay.Limits{PingInterval: time.Hour})
			s.start(t, cert)
			server := relaytest.At(publicURL, client(t, firstClient, cert, nil), nil)
			host := server.Login(t, relaytest.NewKeys(t, ident.KindDevice), "host")
			if f, _, err := host.Next(); err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got frame %T, error %v; want the end of the connection", f, err)
			}
		})
	}
}

// TestProxiesPassTheAddress: limits count the client, whatever it writes into its headers.
func TestProxiesPassTheAddress(t *testing.T) {
	const burst = 3
	for _, s := range setups {
		t.Run(s.name, func(t *testing.T) {
			cert := newCertificate(t)
			s.startRelay(t, cert, relay.Limits{Dials: relay.Rate{Burst: burst, Every: time.Hour}})
			s.start(t, cert)
			for i := range burst + 1 {
				forged := fmt.Sprintf("203.0.113.%d", i+1)
				status := dial(t, client(t, firstClient, cert, http.Header{"X-Forwarded-For": {forged}, "Forwarded": {"for=" + forged}, "X-Real-Ip": {forged}}))
				want := http.StatusSwitchingProtocols
				if i == burst {
					want = http.StatusTooManyRequests
				}
				if status != want {
					t.Errorf("connection %d of the first client: status %d, want %d", i+1, status, want)
				}
			}
			if status := dial(t, client(t, secondClient, cert, nil)); status != http.StatusSwitchingProtocols {
				t.Errorf("the second client gets status %d", status)
			}
		})
	}
}

// dial opens a WebSocket as a page of the relay would, and returns the status of the response.
func dial(t *testing.T, from *http.Client) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ws, answer, err := websocket.Dial(ctx, publicURL+wire.ConnectPath, &websocket.DialOptions{
		HTTPClient: from, Subprotocols: []string{wire.Subprotocol}, HTTPHeader: http.Header{"Origin": {publicURL}},
	})
	if answer == nil {
		t.Fatal(err)
	}
	if err == nil {
		_ = ws.CloseNow() // the response is all that counts
	}
	return answer.StatusCode
}

// checkRequests checks what the proxy answers itself.
func (s setup) checkRequests(t *testing.T, from *http.Client) {
	t.Helper()
	requests := []struct {
		what, method, url string
		header            http.Header
		body              io.Reader
		want              []int
	}{
		{what: "largest header", method: "GET", url: publicURL + "/v1/none", header: http.Header{"X-Long": {strings.Repeat("x", 4<<10)}}, want: []int{404}},
		{what: "larger header", method: "GET", url: publicURL + "/v1/none", header: http.Header{"X-Long": {strings.Repeat("x", 30<<10)}}, want: s.header},
		// Most proxies answer the header, before the body is sent.
		{what: "large body", method: "POST", url: publicURL + wire.ConnectPath, header: http.Header{"Expect": {"100-continue"}}, body: strings.NewReader(strings.Repeat("x", 1<<20)), want: s.body},
	}
	if !s.tcp {
		for _, path := range []string{"/metrics", "/healthz", "/readyz"} {
			requests = append(requests, requests[0])
			last := &requests[len(requests)-1]
			last.what, last.url, last.header = path, publicURL+path, nil
		}
		redirect := requests[0]
		redirect.what, redirect.url, redirect.header, redirect.want = "http", "http://relay.example/pair", nil, []int{308}
		requests = append(requests, redirect)
	}
	for _, r := range requests {
		req, err := http.NewRequestWithContext(t.Context(), r.method, r.url, r.body)
		if err != nil {
			t.Fatal(err)
		}
		for name, values := range r.header {
			req.Header[name] = values
		}
		answer, err := from.Do(req)
		if err != nil {
			t.Errorf("%s: %v", r.what, err)
			continue
		}
		_ = answer.Body.Close()
		if !slices.Contains(r.want, answer.StatusCode) {
			t.Errorf("%s: status %d, want %v", r.what, answer.StatusCode, r.want)
		}
		if at := answer.Header.Get("Location"); answer.StatusCode == http.StatusPermanentRedirect && at != publicURL+"/pair" {
			t.Errorf("%s: redirected to %q", r.what, at)
		}
	}
}
