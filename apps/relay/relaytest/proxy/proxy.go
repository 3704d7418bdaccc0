// Package proxy implements a proxy between two parts of a test that can fail: fall
// silent, refuse, hang up. To a socket it behaves like a dead machine, a broken
// route or a firewall.
package proxy

import (
	"net"
	"sync"
	"testing"
)

// Target returns the current address to dial, as net.Dial takes it.
type Target func() (network, address string, err error)

// TCP returns a Target with a fixed address.
func TCP(address string) Target {
	return func() (string, string, error) { return "tcp", address, nil }
}

// Proxy forwards bytes to a server until it is set to fail. It ends with the test.
type Proxy struct {
	listener net.Listener
	target   Target
	running  sync.WaitGroup

	mu      sync.Mutex
	changed *sync.Cond
	silent  bool // bytes are held back silently
	refuse  bool // connections are closed
	closed  bool
	conns   map[net.Conn]struct{}
}

// New listens on 127.0.0.1 in front of a server.
func New(t testing.TB, target Target) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{listener: l, target: target, conns: make(map[net.Conn]struct{})}
	p.changed = sync.NewCond(&p.mu)
	p.running.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Addr is host:port, where clients connect.
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// Swallow makes the proxy hold back every byte of every connection.
func (p *Proxy) Swallow() { p.set(func() { p.silent = true }) }

// Cut closes every connection and accepts no new one.
func (p *Proxy) Cut() { p.set(func() { p.refuse = true; p.hangUp() }) }

// Heal makes new connections work again. Those that were held back are closed.
func (p *Proxy) Heal() { p.set(func() { p.silent, p.refuse = false, false; p.hangUp() }) }

func (p *Proxy) set(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.changed.Broadcast()
}

// hangUp closes all connections. p.mu must be held.
func (p *Proxy) hangUp() {
	for c := range p.conns {
		_ = c.Close() // its goroutines end
	}
	clear(p.conns)
}

func (p *Proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		far, err := p.dial()
		if err != nil {
			_ = near.Close() // as the server would
			continue
		}
		p.mu.Lock()
		if p.refuse || p.closed {
			p.mu.Unlock()
			_, _ = near.Close(), far.Close()
			continue
		}
		p.conns[near], p.conns[far] = struct{}{}, struct{}{}
		p.running.Go(func() { p.pass(near, far) })
		p.running.Go(func() { p.pass(far, near) })
		p.mu.Unlock()
	}
}

func (p *Proxy) dial() (net.Conn, error) {
	network, address, err := p.target()
	if err != nil {
		return nil, err
	}
	return net.Dial(network, address)
}

// pass copies from one connection to the other until either ends.
func (p *Proxy) pass(from, to net.Conn) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if !p.allowed(from) {
			return
		}
		if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// allowed waits while the proxy is silent and reports whether c is still served.
func (p *Proxy) allowed(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if _, served := p.conns[c]; !served || p.closed {
			return false
		}
		if !p.silent {
			return true
		}
		p.changed.Wait()
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close() // ends accept
	p.set(func() { p.closed = true; p.hangUp() })
	p.running.Wait()
}
