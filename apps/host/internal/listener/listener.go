package listener

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

// Limits of the connections of the direct listener.
const (
	// maxConns bounds all connections. It stays under the 1024 files that many systems
	// let a process open.
	maxConns = 512
	// maxStrangers bounds those that have not shown a token yet. The oldest is closed for
	// one more, so that a client that shows its token at once is always accepted.
	maxStrangers = 256
	// MaxPerToken bounds those of one token.
	MaxPerToken = 256
	// scarceLogEvery is how often it is logged that connections cannot be accepted.
	scarceLogEvery = time.Minute
)

// Listener is the direct listener. It counts the connections of each token, and those
// that have not shown one.
type Listener struct {
	net.Listener
	log *slog.Logger

	mu        sync.Mutex
	conns     int
	byToken   map[string]int
	strangers *list.List // of *Conn, the oldest first

	scarceAt time.Time // when scarcity was last logged; owned by Accept
}

// Listen listens on a loopback address. It refuses any other, because direct connections
// are not encrypted.
func Listen(addr string, log *slog.Logger) (*Listener, error) {
	resolved, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("the address for direct connections is invalid: use an address such as --listen 127.0.0.1:7430 (%w)", err)
	}
	if !resolved.IP.IsLoopback() {
		return nil, fmt.Errorf("direct connections are not encrypted, so %s cannot be used: use a local address such as --listen 127.0.0.1:7430, and a relay for access from other machines", addr)
	}
	listener, err := net.ListenTCP("tcp", resolved)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is in use by another program: end that, or choose another port with --listen", addr)
	case err != nil:
		return nil, fmt.Errorf("the address for direct connections cannot be used: choose another with --listen (%w)", err)
	}
	return wrap(listener, log), nil
}

func wrap(listener net.Listener, log *slog.Logger) *Listener {
	return &Listener{Listener: listener, log: log, byToken: map[string]int{}, strangers: list.New()}
}

// Conn is one connection.
type Conn struct {
	net.Conn
	listener *Listener

	// Guarded by the listener's mu.
	place *list.Element // among the strangers; nil after it showed a token
	token string        // id of the caller
	gone  bool
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			l.scarce(err)
			return nil, err
		}
		if c := l.enter(conn); c != nil {
			return c, nil
		}
		_ = conn.Close() // nothing was said yet
	}
}

// scarce logs that the process has no file descriptor for a connection. The HTTP server
// accepts again after a pause.
func (l *Listener) scarce(err error) {
	if !errors.Is(err, syscall.EMFILE) && !errors.Is(err, syscall.ENFILE) || time.Since(l.scarceAt) < scarceLogEvery {
		return
	}
	l.scarceAt = time.Now()
	l.log.Error("connections cannot be accepted: the process or the system has no file descriptors left. Raise the limit (ulimit -n), or close unused files and connections", "error", err)
}

// enter counts a connection; nil where the limit is reached and no stranger can be closed.
func (l *Listener) enter(conn net.Conn) *Conn {
	c := &Conn{Conn: conn, listener: l}
	l.mu.Lock()
	var leaves *Conn
	if full := l.conns >= maxConns; full || l.strangers.Len() >= maxStrangers {
		oldest := l.strangers.Front()
		if oldest == nil {
			l.mu.Unlock()
			return nil
		}
		leaves = oldest.Value.(*Conn)
		leaves.leaveLocked()
	}
	l.conns++
	c.place = l.strangers.PushBack(c)
	l.mu.Unlock()
	if leaves != nil {
		_ = leaves.Conn.Close() // it showed no token in time
	}
	return c
}

// Identify records that the connection showed the token of a caller; false when the
// connection was closed, or the token has MaxPerToken others.
func (c *Conn) Identify(token string) bool {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	if c.gone || c.token == token {
		return !c.gone
	}
	if c.listener.byToken[token] >= MaxPerToken {
		return false
	}
	c.uncountLocked()
	c.token = token
	c.listener.byToken[token]++
	return true
}

// uncountLocked removes the connection from the strangers, or from its token.
func (c *Conn) uncountLocked() {
	if c.place != nil {
		c.listener.strangers.Remove(c.place)
		c.place = nil
	}
	if c.token == "" {
		return
	}
	if c.listener.byToken[c.token]--; c.listener.byToken[c.token] == 0 {
		delete(c.listener.byToken, c.token)
	}
	c.token = ""
}

func (c *Conn) leaveLocked() {
	if !c.gone {
		c.gone = true
		c.listener.conns--
		c.uncountLocked()
	}
}

// Close implements net.Conn.
func (c *Conn) Close() error {
	c.listener.mu.Lock()
	c.leaveLocked()
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets the server end an answer before it closes the connection.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

type connKey struct{}

// WithConn keeps the connection of a request in its context. It is the ConnContext of an
// http.Server.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// FromContext returns the connection of a request; nil for one that no Listener accepted.
func FromContext(ctx context.Context) *Conn {
	c, _ := ctx.Value(connKey{}).(*Conn)
	return c
}
