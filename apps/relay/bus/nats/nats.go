// Package nats implements bus.Bus over NATS core: nothing is stored, and it keeps
// trying to reach a server that is unreachable.
//
// A node's subscriptions share one channel, because a goroutine per subscription
// would cost a stack for every connected peer. Messages that do not fit into the
// channel or the inbox behind it, and those sent while the connection is down, are
// reported as lost. Nothing is buffered for sending while the server is
// unreachable: Publish and Request fail at once, so that the caller knows.
//
// Whoever may connect to the NATS server can act as any node: keep it on a private
// network, or protect it with TLS and accounts (tls://, user and password or token
// in the URL). Subjects begin with "scorel."; relays that do not share a store need
// separate servers or accounts.
package nats

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"time"

	client "github.com/nats-io/nats.go"

	"github.com/scorel/scorel/apps/relay/bus"
)

const (
	// pingInterval and maxPings detect a server that vanished silently within three
	// intervals.
	pingInterval = time.Second
	maxPings     = 2
	// dialTimeout and writeTimeout limit how long one server can delay a node.
	dialTimeout  = 3 * time.Second
	writeTimeout = 3 * time.Second
	checkTimeout = 2 * time.Second
	// reconnectFirst doubles up to reconnectMost; half of the pause is random, so
	// that nodes do not reconnect in step.
	reconnectFirst = 100 * time.Millisecond
	reconnectMost  = 2 * time.Second
	// channelLen is how many messages may be between the network and the inbox,
	// which accepts them without waiting for the handler: enough for a goroutine
	// that is scheduled late on a busy machine.
	channelLen = 8192
)

// Bus connects each node to NATS on its own.
type Bus struct {
	servers string
	log     *slog.Logger
}

// New validates the addresses: one URL or several separated by commas. It does not
// dial; Attach does. A nil log discards.
func New(servers string, log *slog.Logger) (*Bus, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	for raw := range strings.SplitSeq(servers, ",") {
		if err := checkURL(strings.TrimSpace(raw)); err != nil {
			return nil, err
		}
	}
	return &Bus{servers: servers, log: log}, nil
}

// checkURL returns what is wrong with an address. It may contain a password, so it
// is never quoted verbatim.
func checkURL(raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil:
		return errors.New("the bus address is not a URL; write it like nats://host:4222")
	case u.Scheme != "nats" && u.Scheme != "tls":
		return fmt.Errorf("the bus address %q does not begin with nats:// or tls://; write it like nats://host:4222", u.Redacted())
	case u.Hostname() == "":
		return fmt.Errorf("the bus address %q has no host; write it like nats://host:4222", u.Redacted())
	case strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("the bus address %q has more than host and port; write it like nats://host:4222", u.Redacted())
	}
	return nil
}

// places returns the addresses without secrets.
func (b *Bus) places() string {
	var all []string
	for raw := range strings.SplitSeq(b.servers, ",") {
		if u, err := url.Parse(strings.TrimSpace(raw)); err == nil {
			all = append(all, u.Host)
		}
	}
	return strings.Join(all, ", ")
}

type node struct {
	nc    *client.Conn
	inbox *bus.Inbox
	feed  chan *client.Msg
	quit  chan struct{}
	ended chan struct{} // closed when pump has ended
	log   *slog.Logger

	mu     sync.Mutex
	subs   map[string]*client.Subscription
	closed bool
}

// Attach implements bus.Bus. It fails if no server can be reached.
func (b *Bus) Attach(handle func(bus.Message)) (bus.Node, error) {
	n := &node{
		inbox: bus.NewInbox(handle),
		feed:  make(chan *client.Msg, channelLen),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
		log:   b.log,
		subs:  make(map[string]*client.Subscription),
	}
	nc, err := client.Connect(b.servers, n.options()...)
	if err != nil {
		n.inbox.Close()
		if errors.Is(err, client.ErrNoServers) {
			return nil, fmt.Errorf("%w: no NATS server answers at %s; start one there, or correct the address", bus.ErrUnreachable, b.places())
		}
		return nil, fmt.Errorf("connecting to the NATS servers of the bus: %w", err)
	}
	n.nc = nc
	go n.pump()
	return n, nil
}

func (n *node) options() []client.Option {
	return []client.Option{
		client.Name("scorel-relay"),
		client.NoEcho(),
		client.Timeout(dialTimeout),
		client.FlusherTimeout(writeTimeout),
		client.PingInterval(pingInterval),
		client.MaxPingsOutstanding(maxPings),
		client.MaxReconnects(-1),
		client.CustomReconnectDelay(reconnectDelay),
		client.ReconnectBufSize(-1), // no buffer: messages that cannot be sent must fail at once
		client.DisconnectErrHandler(func(_ *client.Conn, err error) {
			if err != nil { // nil after our own Close
				n.log.Warn("the bus cannot be reached", "error", err)
				n.inbox.Lose()
			}
		}),
		client.ReconnectHandler(func(nc *client.Conn) {
			n.log.Info("the bus can be reached again", "server", nc.ConnectedServerName())
			n.inbox.Lose()
		}),
		client.ErrorHandler(n.asyncError),
	}
}

// asyncError handles asynchronous errors, such as a message lost because the
// channel was full.
func (n *node) asyncError(_ *client.Conn, _ *client.Subscription, err error) {
	n.log.Warn("the bus reported an error", "error", err)
	n.inbox.Lose()
}

// reconnectDelay returns the pause after all servers have been tried this many
// times.
func reconnectDelay(attempts int) time.Duration {
	pause := min(reconnectFirst<<min(attempts, 10), reconnectMost)
	return pause/2 + rand.N(pause/2)
}

// pump moves messages into the inbox, which is limited in bytes.
func (n *node) pump() {
	defer close(n.ended)
	for {
		select {
		case m := <-n.feed:
			msg := bus.Message{Subject: m.Subject, Data: m.Data}
			if m.Reply != "" {
				msg.Respond = m.Respond
			}
			n.inbox.Put(msg)
		case <-n.quit:
			return
		}
	}
}

// Subscribe implements bus.Node. While the server is unreachable it takes effect
// after the reconnection.
func (n *node) Subscribe(subject string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fmt.Errorf("%w: subscribing", bus.ErrClosed)
	}
	if n.subs[subject] != nil {
		return nil
	}
	sub, err := n.nc.ChanSubscribe(subject, n.feed)
	if err != nil {
		return fmt.Errorf("bus: subscribing to %s: %w", subject, err)
	}
	n.subs[subject] = sub
	return nil
}

// Unsubscribe implements bus.Node.
func (n *node) Unsubscribe(subject string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return fmt.Errorf("%w: unsubscribing", bus.ErrClosed)
	}
	sub := n.subs[subject]
	if sub == nil {
		return nil
	}
	delete(n.subs, subject)
	if err := sub.Unsubscribe(); err != nil {
		return fmt.Errorf("bus: unsubscribing from %s: %w", subject, err)
	}
	return nil
}

func (n *node) sendable(data []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.closed:
		return fmt.Errorf("%w: sending", bus.ErrClosed)
	case len(data) > bus.MaxData:
		return fmt.Errorf("bus: message of %d bytes is over the limit of %d", len(data), bus.MaxData)
	}
	return nil
}

// Publish implements bus.Node. It fails at once while the server is unreachable,
// and waits at most writeTimeout for a blocked network.
func (n *node) Publish(subject string, data []byte) error {
	if err := n.sendable(data); err != nil {
		return err
	}
	if err := n.nc.Publish(subject, data); err != nil {
		return fmt.Errorf("bus: publishing on %s: %w", subject, err)
	}
	return nil
}

// Request implements bus.Node.
func (n *node) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if err := n.sendable(data); err != nil {
		return nil, err
	}
	answer, err := n.nc.RequestWithContext(ctx, subject, data)
	switch {
	case errors.Is(err, client.ErrNoResponders):
		return nil, fmt.Errorf("%w on %s", bus.ErrNoResponders, subject)
	case err != nil:
		return nil, fmt.Errorf("bus: sending a request on %s: %w", subject, err)
	}
	return answer.Data, nil
}

// Check implements bus.Node: the server must answer.
func (n *node) Check(ctx context.Context) error {
	if err := n.sendable(nil); err != nil {
		return err
	}
	if !n.nc.IsConnected() { // a flush would wait for the reconnection
		return errors.New("bus: not connected to a NATS server")
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if err := n.nc.FlushWithContext(ctx); err != nil {
		return fmt.Errorf("bus: pinging the NATS server: %w", err)
	}
	return nil
}

// Close implements bus.Node. Earlier publications are sent first, if the server
// accepts them.
func (n *node) Close() error {
	n.mu.Lock()
	first := !n.closed
	n.closed = true
	n.mu.Unlock()
	if first {
		n.nc.Close() // flushes what was published
		close(n.quit)
	}
	<-n.ended
	n.inbox.Close()
	return nil
}
