package cli

import (
	"context"
	"errors"
	"net"
	"strings"
	"sync"
	"time"
)

// gate is a listener of the relay beside a host: of connections within this process, and of
// those that other listeners accept.
type gate struct {
	listeners []net.Listener
	accepted  chan arrival
	closed    chan struct{}
	once      sync.Once
	accepting sync.WaitGroup // one for each listener
	mounted   net.Addr       // where the host serves the relay as well; nil if it does not
}

// arrival is the result of one Accept.
type arrival struct {
	conn net.Conn
	err  error
}

// acceptAgain is the pause after a listener could not accept a connection.
const acceptAgain = 100 * time.Millisecond

// openGate accepts from listeners, which it closes, until it is closed.
func openGate(listeners []net.Listener) *gate {
	g := &gate{listeners: listeners, accepted: make(chan arrival), closed: make(chan struct{})}
	for _, l := range listeners {
		g.accepting.Go(func() { g.acceptFrom(l) })
	}
	return g
}

func (g *gate) acceptFrom(l net.Listener) {
	for {
		conn, err := l.Accept()
		select {
		case g.accepted <- arrival{conn, err}:
		case <-g.closed:
			if conn != nil {
				_ = conn.Close() // nothing was said yet
			}
			return
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			select {
			case <-time.After(acceptAgain):
			case <-g.closed:
				return
			}
		}
	}
}

// Dial connects within this process.
func (g *gate) Dial(ctx context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case g.accepted <- arrival{conn: inside{far}}:
		return near, nil
	case <-g.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	select {
	case a := <-g.accepted:
		return a.conn, a.err
	case <-g.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It returns when no listener accepts any more.
func (g *gate) Close() error {
	var errs []error
	g.once.Do(func() {
		close(g.closed)
		for _, l := range g.listeners {
			errs = append(errs, l.Close())
		}
		g.accepting.Wait()
	})
	return errors.Join(errs...)
}

// Addr names every address at which the relay is reached.
func (g *gate) Addr() net.Addr {
	var all addresses
	if g.mounted != nil {
		all = append(all, g.mounted)
	}
	for _, l := range g.listeners {
		all = append(all, l.Addr())
	}
	if len(all) == 1 {
		return all[0]
	}
	return all
}

// addresses are those of several listeners, for logs and messages.
type addresses []net.Addr

// Network implements net.Addr.
func (addresses) Network() string { return "tcp" }

func (a addresses) String() string {
	var texts []string
	for _, one := range a {
		texts = append(texts, one.String())
	}
	return strings.Join(texts, ", ")
}

// inside is the relay's end of a connection within this process.
type inside struct{ net.Conn }

// RemoteAddr is the loopback address, by which the relay recognizes its own machine.
func (inside) RemoteAddr() net.Addr { return insideAddr() }

func insideAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
