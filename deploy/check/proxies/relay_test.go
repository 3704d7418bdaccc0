package proxies

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/relay"
	"github.com/scorel/scorel/apps/relay/relaytest"
	"github.com/scorel/scorel/apps/relay/serve"
)

// patience limits a test that fails.
const patience = relaytest.Patience

const publicURL = "https://relay.example"

var idleSeconds = strconv.Itoa(int(idleTimeout / time.Second))

func parseIPv4(address string) []byte {
	ip := netip.MustParseAddr(address).As4()
	return ip[:]
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// certificate is a self-signed one for relay.example, in files.
type certificate struct {
	both, key string // both are the certificate and its key in one file
	roots     *x509.CertPool
}

func newCertificate(t *testing.T) certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"relay.example"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	private := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
	dir := t.TempDir()
	out := certificate{both: filepath.Join(dir, "cert.pem"), key: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool()}
	writeFile(t, out.both, append(public, private...))
	writeFile(t, out.key, private)
	out.roots.AppendCertsFromPEM(public)
	return out
}

// startRelay runs a relay at the address that the configurations name, until the test ends.
func (s setup) startRelay(t *testing.T, cert certificate, limits relay.Limits) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:7410")
	if err != nil {
		t.Fatal(err)
	}
	opts := serve.Options{
		Listener: listener, DataDir: t.TempDir(), PublicURLs: []string{publicURL}, Version: "test", Drain: -1,
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Guard:          serve.Guard{Limits: &limits, ProxyProtocol: s.tcp},
	}
	if s.tcp {
		opts.TLS = serve.TLS{CertFile: cert.both, KeyFile: cert.key}
	}
	ready := make(chan struct{})
	opts.Ready = func() error {
		close(ready)
		return nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- serve.Run(ctx, opts) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the relay ended: %v", err)
		}
	})
	select {
	case <-ready:
	case <-time.After(patience):
		t.Fatal("the relay does not start")
	}
}

// client returns a client that connects to the proxy from an address of the namespace, and sends
// a header with each request.
func client(t *testing.T, from string, cert certificate, header http.Header) *http.Client {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IP(parseIPv4(from))}}
	transport := &http.Transport{
		TLSClientConfig:       &tls.Config{RootCAs: cert.roots},
		ExpectContinueTimeout: patience,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			_, port, err := net.SplitHostPort(address)
			if err != nil {
				return nil, err
			}
			conn, err := dialer.DialContext(ctx, network, net.JoinHostPort(proxyAddr, port))
			if err != nil {
				return nil, err
			}
			return readsToTheEnd{conn}, nil
		},
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     withHeader{transport, header},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// readsToTheEnd lets a client read what arrived before the connection was reset. A proxy that
// rejects a body answers and closes the connection while the rest of the body is on its way.
// http.Transport would report the failed write instead of the answer.
type readsToTheEnd struct{ net.Conn }

func (c readsToTheEnd) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) {
		return len(p), nil // reading reports it, after the answer
	}
	return n, err
}

// withHeader adds a header to each request.
type withHeader struct {
	http.RoundTripper
	header http.Header
}

func (w withHeader) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for name, values := range w.header {
		req.Header[name] = values
	}
	return w.RoundTripper.RoundTrip(req)
}
