package rowstest

import (
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Proxy stands between a provider and its database, and can be a bad network.
type Proxy struct {
	URL string // of the database, through the proxy

	network, server string
	listener        net.Listener
	wg              sync.WaitGroup

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
	fault Fault
	left  int // requests until the fault; 0: none is planned
}

// Fault is what happens to one request, after which the connection ends.
type Fault int

const (
	RequestLost Fault = iota // the server never gets it
	AnswerLost               // the server does it, and the answer is lost
	ServerLost               // as AnswerLost, and the server cannot be reached after it
)

// NewProxy puts a proxy before the database of a URL of testdb.
func NewProxy(t *testing.T, dsn string) *Proxy {
	t.Helper()
	u, err := url.Parse(dsn)
	check(t, err)
	p := &Proxy{network: "tcp", server: u.Host, conns: map[net.Conn]bool{}}
	query := u.Query()
	if dir := query.Get("host"); dir != "" {
		p.network, p.server = "unix", filepath.Join(dir, ".s.PGSQL.5432")
	} else if socket := query.Get("socket"); socket != "" {
		p.network, p.server = "unix", socket
	}
	query.Del("host")
	query.Del("socket")
	if strings.HasPrefix(u.Scheme, "postgres") {
		query.Set("sslmode", "disable")
	}
	p.listener, err = net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	u.Host, u.RawQuery = p.listener.Addr().String(), query.Encode()
	p.URL = u.String()
	p.wg.Go(p.accept)
	t.Cleanup(func() {
		_ = p.listener.Close()
		p.SetDown(true)
		p.wg.Wait()
	})
	return p
}

// Plan lets a fault happen to the n-th request from now, counted from 1.
func (p *Proxy) Plan(f Fault, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.left = f, n
}

// Happened reports whether the planned fault did, and takes the plan back.
func (p *Proxy) Happened() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	happened := p.left == 0
	p.left = 0
	return happened
}

// SetDown ends all connections and lets none begin, or lets them begin again.
func (p *Proxy) SetDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
	if down {
		for conn := range p.conns {
			_ = conn.Close()
		}
	}
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial(p.network, p.server)
		if err != nil || !p.add(client, server) {
			_ = client.Close()
			if err == nil {
				_ = server.Close()
			}
			continue
		}
		lost := make(chan struct{}) // closed when the next answer is to be lost
		ended := make(chan struct{})
		p.wg.Go(func() { p.requests(client, server, lost, ended); p.remove(client, server) })
		p.wg.Go(func() { p.answers(client, server, lost); close(ended); p.remove(client, server) })
	}
}

func (p *Proxy) add(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = !p.down
	}
	return !p.down
}

func (p *Proxy) remove(conns ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

// due counts a request, and tells whether the fault happens to it.
func (p *Proxy) due() (Fault, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left == 0 {
		return 0, false
	}
	p.left--
	return p.fault, p.left == 0
}

// last returns the fault that was planned last.
func (p *Proxy) last() Fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

func (p *Proxy) requests(client, server net.Conn, lost, ended chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		fault, now := p.due()
		if now && fault == RequestLost {
			return
		}
		if now {
			close(lost)
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
		if now {
			<-ended // the answer came, and was lost
			return
		}
	}
}

func (p *Proxy) answers(client, server net.Conn, lost chan struct{}) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-lost: // the server answered, so it is done
			if p.last() == ServerLost {
				p.SetDown(true)
			}
			return
		default:
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}
