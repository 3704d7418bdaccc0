package acmetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"

	"github.com/scorel/scorel/apps/relay/serve"
)

const host = "relay.example.org"

// authority is an ACME server that finds host at 127.0.0.1 and looks at port tlsPort.
type authority struct {
	url    string
	client *http.Client   // trusts the authority's own server
	roots  *x509.CertPool // of the certificates that it gives out
}

func startAuthority(t *testing.T, tlsPort int) authority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1") // it waits before it looks, else
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet, store := log.New(io.Discard, "", 0), db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "default"}})
	checker := va.New(quiet, 1, tlsPort, false, startDNS(t), store)
	front := wfe.New(quiet, store, checker, issuer, []string{"ca.example"}, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(issuer.GetRootCert(0).Cert)
	return authority{url: server.URL + wfe.DirectoryPath, client: server.Client(), roots: roots}
}

// startDNS answers every question for an address with 127.0.0.1.
func startDNS(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		answer := new(dns.Msg).SetReply(question)
		if q := question.Question[0]; q.Qtype == dns.TypeA {
			answer.Answer = append(answer.Answer, &dns.A{
				Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.IPv4(127, 0, 0, 1),
			})
		}
		_ = w.WriteMsg(answer) // who asked has gone
	})}
	ended := make(chan error, 1)
	go func() { ended <- server.ActivateAndServe() }()
	t.Cleanup(func() {
		_ = server.Shutdown() // it may not have begun
		_ = l.Close()
		<-ended
	})
	return l.Addr().String()
}

// startRelay serves with certificates of a until the returned function is called.
func startRelay(t *testing.T, l net.Listener, a authority, dir string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- serve.Run(ctx, serve.Options{
			Listener: l, DataDir: dir, PublicURLs: []string{"https://" + host}, Drain: -1,
			TLS:   serve.TLS{ACME: serve.ACME{Hosts: []string{host}, URL: a.url, Client: a.client, Email: "ops@example.org"}},
			Ready: func() error { close(ready); return nil },
		})
	}()
	stop = func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run: %v", err)
		}
	}
	select {
	case <-ready:
	case err := <-ended:
		t.Fatalf("Run: %v", err)
	}
	return stop
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// metrics connects as a peer would, with a look at the certificate.
func metrics(t *testing.T, addr net.Addr, roots *x509.CertPool) (string, *x509.Certificate) {
	t.Helper()
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives:   true,
		TLSHandshakeTimeout: time.Minute,
		TLSClientConfig:     &tls.Config{RootCAs: roots, ServerName: host},
	}}
	resp, err := client.Get("https://" + addr.String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body), resp.TLS.PeerCertificates[0]
}

func TestCertificateByACME(t *testing.T) {
	l, dir := listen(t), t.TempDir()
	a := startAuthority(t, l.Addr().(*net.TCPAddr).Port)
	stop := startRelay(t, l, a, dir)
	_, cert := metrics(t, l.Addr(), a.roots)
	if err := cert.VerifyHostname(host); err != nil {
		t.Fatal(err)
	}
	page, _ := metrics(t, l.Addr(), a.roots)
	if !regexp.MustCompile(`(?m)^scorel_relay_certificate_expiry_timestamp_seconds [1-9]`).MatchString(page) {
		t.Error("the expiry is not among the metrics")
	}
	if c, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{InsecureSkipVerify: true, ServerName: "other.example.org"}); err == nil {
		_ = c.Close() // it should not be there
		t.Error("a name that is not ours was served")
	}
	stop()
	checkFolder(t, filepath.Join(dir, "acme"))

	// After a restart the certificate is there without the authority.
	l = listen(t)
	stop = startRelay(t, l, authority{url: "https://127.0.0.1:1/directory"}, dir)
	defer stop()
	if _, again := metrics(t, l.Addr(), a.roots); !again.Equal(cert) {
		t.Error("another certificate after a restart")
	}
}

// checkFolder holds the keys in it to be readable by their owner alone.
func checkFolder(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) < 2 {
		t.Fatalf("%d files in the folder of certificates, %v", len(entries), err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", e.Name(), info.Mode(), err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v %v", info, err)
	}
}
