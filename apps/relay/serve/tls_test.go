package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/scorel/scorel/packages/protocol/wire"
)

// pair is a self-signed certificate in files.
type pair struct{ cert, key string }

func newPair(t *testing.T, dir string) pair {
	t.Helper()
	return pair{filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")}
}

// write makes a certificate with a serial number of its own, and returns it.
func (p pair) write(t *testing.T, serial int64, expires time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "relay.example"}, DNSNames: []string{"relay.example"},
		NotBefore: time.Now().Add(-10 * 365 * 24 * time.Hour), NotAfter: expires, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	p.put(t, p.cert, serial, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	p.put(t, p.key, serial, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// put writes a file whose time of change no other version has: the clock of a file
// system may be coarse.
func (p pair) put(t *testing.T, path string, version int64, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Unix(1_700_000_000+version, 0)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestServesOverTLSAndSaysGoodbye(t *testing.T) {
	p, l := newPair(t, t.TempDir()), listen(t)
	cert := p.write(t, 1, time.Now().Add(time.Hour))
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Options{
			Listener: l, DataDir: t.TempDir(), TLS: TLS{CertFile: p.cert, KeyFile: p.key}, Drain: time.Millisecond,
			PublicURLs: []string{"https://relay.example"}, Ready: func() error { close(ready); return nil },
		})
	}()
	<-ready
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, ServerName: "relay.example", NextProtos: []string{"h2", "http/1.1"}},
		DisableKeepAlives: true,
	}
	resp, err := (&http.Client{Transport: transport}).Get("https://" + l.Addr().String() + "/metrics")
	if err != nil || resp.StatusCode != 200 || resp.ProtoMajor != 1 || resp.TLS.NegotiatedProtocol != "http/1.1" {
		t.Fatalf("%+v %v", resp, err)
	}
	resp.Body.Close()
	if c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: roots, ServerName: "relay.example", MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		_ = c.Close() // it should not be there
		t.Error("TLS 1.1 was accepted")
	}
	ws, _, err := websocket.Dial(t.Context(), "wss://"+l.Addr().String()+wire.ConnectPath, &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{wire.Subprotocol},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ws.CloseNow() }()
	expectFrame[*wire.RelayHello](t, ws)
	cancel()
	if bye := expectFrame[*wire.Goodbye](t, ws); bye.Reason != wire.ReasonShutdown || bye.RetryAfter < 500 {
		t.Fatalf("received %+v", bye)
	}
	_ = ws.CloseNow() // as a peer does
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func expectFrame[F wire.Frame](t *testing.T, ws *websocket.Conn) F {
	t.Helper()
	_, data, err := ws.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := wire.DecodeControl(data, wire.MaxControl)
	got, ok := f.(F)
	if err != nil || !ok {
		t.Fatalf("got %T %v", f, err)
	}
	return got
}

func TestCertificateFilesAreReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, t.TempDir())
		var logs strings.Builder
		f := &certFiles{certFile: p.cert, keyFile: p.key, log: slog.New(slog.NewTextHandler(&logs, nil)), metrics: newMetrics()}
		first := p.write(t, 1, time.Now().Add(24*time.Hour))
		if err := f.load(); err != nil {
			t.Fatal(err)
		}
		serves := func(when string, serial int64) {
			t.Helper()
			cert, err := f.get(nil)
			if err != nil || cert.Leaf.SerialNumber.Int64() != serial {
				t.Fatalf("%s: certificate %v, want number %d, error %v", when, cert.Leaf.SerialNumber, serial, err)
			}
		}
		if got := f.metrics.firstExpiry(); got != float64(first.NotAfter.Unix()) {
			t.Fatalf("expiry %v", got)
		}
		<-time.After(lookEvery)
		serves("unchanged", 1)
		p.write(t, 2, time.Now().Add(48*time.Hour))
		serves("within a second of the last look", 1)
		<-time.After(lookEvery)
		serves("a second later", 2)
		// Half a pair, a broken one, an expired one, none: the good one stays.
		p.put(t, p.key, 3, []byte("no key"))
		<-time.After(lookEvery)
		serves("a broken key", 2)
		p.write(t, 4, time.Now().Add(-time.Hour))
		<-time.After(lookEvery)
		serves("an expired certificate", 2)
		if err := os.Remove(p.cert); err != nil {
			t.Fatal(err)
		}
		if err := f.reload(); err == nil {
			t.Fatal("a missing file was read")
		}
		serves("no certificate", 2)
		p.write(t, 5, time.Now().Add(time.Hour))
		if err := f.reload(); err != nil {
			t.Fatal(err)
		}
		serves("asked to reload", 5)
		good := testutil.ToFloat64(f.metrics.reloads.WithLabelValues(reloadCertificate, resultOK))
		bad := testutil.ToFloat64(f.metrics.reloads.WithLabelValues(reloadCertificate, resultFailed))
		if good != 2 || bad != 3 || !strings.Contains(logs.String(), "the old one stays") {
			t.Fatalf("%v good and %v bad reloads, log:\n%s", good, bad, logs.String())
		}
	})
}

func TestWrongCombinationsOfTLS(t *testing.T) {
	names := []string{"https://relay.example:8443", "http://plain.example"}
	for want, set := range map[string]TLS{
		"not both":                           {CertFile: "c", KeyFile: "k", ACME: ACME{Hosts: []string{"relay.example"}}},
		"--tls-cert needs":                   {CertFile: "c"},
		"--tls-key needs":                    {KeyFile: "k"},
		"add --acme-host":                    {ACME: ACME{URL: "https://ca.example"}},
		"use lower case":                     {ACME: ACME{Hosts: []string{"Relay.example"}}},
		"*.relay.example\" is not":           {ACME: ACME{Hosts: []string{"*.relay.example"}}},
		"127.0.0.1\" is not":                 {ACME: ACME{Hosts: []string{"127.0.0.1"}}},
		"localhost\" is not":                 {ACME: ACME{Hosts: []string{"localhost"}}},
		"--public-url https://plain":         {ACME: ACME{Hosts: []string{"plain.example"}}},
		"--acme-url \"ca.example\" is":       {ACME: ACME{Hosts: []string{"relay.example"}, URL: "ca.example"}},
		"--acme-email \"nobody\" is not an ": {ACME: ACME{Hosts: []string{"relay.example"}, Email: "nobody"}},
	} {
		if err := set.Check(names); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", set, err, want)
		}
	}
	for _, set := range []TLS{{}, {CertFile: "c", KeyFile: "k"}, {ACME: ACME{Hosts: []string{"relay.example"}}}} {
		if err := set.Check(names); err != nil {
			t.Errorf("%+v: %v", set, err)
		}
	}
}

func TestFolderOfKeysIsClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	acme := ACME{Hosts: []string{"relay.example"}, Dir: dir}
	manager, err := acme.manager()
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Fatalf("%v %v", info, err)
	}
	if manager.HostPolicy(t.Context(), "relay.example") != nil || manager.HostPolicy(t.Context(), "other.example") == nil {
		t.Fatal("a certificate would be asked for another name than ours, or not for ours")
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := acme.manager(); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Fatalf("an open folder: %v", err)
	}
}

func TestAuthorityOutOfReachIsCountedAndSaidOnce(t *testing.T) {
	a := ACME{Hosts: []string{"relay.example"}, Dir: filepath.Join(t.TempDir(), "acme"), URL: "https://127.0.0.1:1/directory"}
	manager, err := a.manager()
	if err != nil {
		t.Fatal(err)
	}
	var logs strings.Builder
	c := &acmeCerts{manager: manager, hosts: a.Hosts, log: slog.New(slog.NewTextHandler(&logs, nil)), metrics: newMetrics()}
	for _, name := range []string{"relay.example", "stranger.example"} {
		if _, err := c.get(&tls.ClientHelloInfo{ServerName: name, CipherSuites: []uint16{tls.TLS_AES_128_GCM_SHA256}}); err == nil {
			t.Fatalf("a certificate for %s from nowhere", name)
		}
	}
	if n := testutil.ToFloat64(c.metrics.certErrors); n != 1 || strings.Count(logs.String(), "port 443") != 1 || strings.Contains(logs.String(), "stranger") {
		t.Fatalf("counted %v, log:\n%s", n, logs.String())
	}
}
