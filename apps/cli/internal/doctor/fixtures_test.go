package doctor_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/cli/internal/doctor"
	"github.com/scorel/scorel/packages/leakcheck"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

// brief is the timeout of a step that must time out.
const brief = 2 * time.Second

// result is everything that one probe reported.
type result struct {
	failure *doctor.Failure
	steps   []doctor.Step
}

func (r result) step(t *testing.T, name doctor.Name) doctor.Step {
	t.Helper()
	for _, s := range r.steps {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no step %s among %v", name, r.steps)
	return doctor.Step{}
}

func run(t *testing.T, opts doctor.Options) result {
	t.Helper()
	keys, err := ident.Generate(ident.KindClient, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if opts.Keys == nil {
		opts.Keys = func() (*ident.Private, error) { return keys, nil }
	}
	if opts.Proxy == nil {
		opts.Proxy = func(*http.Request) (*url.URL, error) { return nil, nil }
	}
	opts.Label = "doctor test"
	var got result
	opts.Report = func(_ *doctor.Device, step doctor.Step) { got.steps = append(got.steps, step) }
	got.failure, err = doctor.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// authority signs certificates for tests.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key *ecdsa.PrivateKey, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := &authority{key: key, cert: sign(t, template, template, key, key), pool: x509.NewCertPool()}
	a.pool.AddCert(a.cert)
	return a
}

// leaf creates a certificate for 127.0.0.1 and relay.test; change, which may be nil,
// modifies it.
func (a *authority) leaf(t *testing.T, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "relay.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0),
		DNSNames: []string{"relay.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if change != nil {
		change(template)
	}
	cert := sign(t, template, a.cert, key, a.key)
	return tls.Certificate{Certificate: [][]byte{cert.Raw}, PrivateKey: key}
}

// selfSigned creates a self-signed certificate.
func selfSigned(t *testing.T) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "relay.test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(0, 3, 0),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	return tls.Certificate{Certificate: [][]byte{sign(t, template, template, key, key).Raw}, PrivateKey: key}
}

// serveTLS serves a handler with a certificate.
func serveTLS(t *testing.T, cert tls.Certificate, handler http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // a probe that hangs up is not worth logging
	s.TLS = &tls.Config{Certificates: []tls.Certificate{cert}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// closedPort returns an address that no one listens on.
func closedPort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return addr
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// silentPort accepts connections, reads, and sends nothing.
func silentPort(t *testing.T) string {
	t.Helper()
	l := listen(t)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				_, _ = io.Copy(io.Discard, conn) // until the prober hangs up
				_ = conn.Close()
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String()
}

// connectProxy is an HTTP proxy that answers CONNECT with status, and with 200 connects
// every name to target.
type connectProxy struct {
	*httptest.Server
	wg sync.WaitGroup

	mu    sync.Mutex
	asked []string // the hosts of CONNECT
	login []string // the Proxy-Authorization of each
}

func newConnectProxy(t *testing.T, status int, target string) *connectProxy {
	t.Helper()
	p := &connectProxy{}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.wg.Add(1) // before the hijack, after which Close does not wait for us
		defer p.wg.Done()
		p.mu.Lock()
		p.asked = append(p.asked, r.Method+" "+r.Host)
		p.login = append(p.login, r.Header.Get("Proxy-Authorization"))
		p.mu.Unlock()
		if status != http.StatusOK || r.Method != http.MethodConnect {
			http.Error(w, "not through here", status)
			return
		}
		p.splice(w, target)
	}))
	t.Cleanup(func() { p.Close(); p.wg.Wait() })
	return p
}

// heard returns the requests so far.
func (p *connectProxy) heard() (asked, login []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked), slices.Clone(p.login)
}

func (p *connectProxy) splice(w http.ResponseWriter, target string) {
	far, err := net.Dial("tcp", target)
	if err != nil {
		http.Error(w, "no way", http.StatusBadGateway)
		return
	}
	near, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = far.Close()
		return
	}
	_, _ = near.Write([]byte("HTTP/1.1 200 Connection established\r\n\r\n")) // the probe notices if this fails
	for _, pair := range [][2]net.Conn{{near, far}, {far, near}} {
		p.wg.Go(func() {
			_, _ = io.Copy(pair[0], pair[1]) // either end may end it
			_ = pair[0].Close()
			_ = pair[1].Close()
		})
	}
}

func (p *connectProxy) option(t *testing.T) func(*http.Request) (*url.URL, error) {
	return proxyOption(t, p.URL)
}

func proxyOption(t *testing.T, address string) func(*http.Request) (*url.URL, error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return func(*http.Request) (*url.URL, error) { return u, nil }
}
