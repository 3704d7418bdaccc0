package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// acmeProtocol is what the authority asks for when it looks whether a name is ours.
const acmeProtocol = acme.ALPNProto

// complainEvery is how often at the most a failure to get a certificate is logged.
const complainEvery = time.Minute

// ACME gets certificates from an authority such as Let's Encrypt, which connects to
// port 443 of each host to see that it is ours. Using it accepts the authority's terms.
type ACME struct {
	Hosts  []string     // names to get certificates for; none switches ACME off
	Email  string       // where the authority writes to; may be empty
	Dir    string       // keeps keys and certificates, mode 0700; "" is "acme" in the data folder
	URL    string       // the authority's directory; "" is Let's Encrypt
	Client *http.Client // reaches the authority; nil is http.DefaultClient
}

func (a ACME) enabled() bool { return len(a.Hosts) > 0 }

func (a ACME) check(publicURLs []string) error {
	if !a.enabled() {
		if a.Email != "" || a.Dir != "" || a.URL != "" {
			return errors.New("--acme-email, --acme-dir and --acme-url do nothing without a name to get a certificate for: add --acme-host")
		}
		return nil
	}
	for _, host := range a.Hosts {
		if err := checkName(host, publicURLs); err != nil {
			return err
		}
	}
	if a.URL != "" && !strings.HasPrefix(a.URL, "https://") {
		return fmt.Errorf("--acme-url %q is not the https address of an ACME directory: give it as in https://ca.example/directory", a.URL)
	}
	if a.Email != "" && !strings.Contains(a.Email, "@") {
		return fmt.Errorf("--acme-email %q is no address: give it as in ops@example.org", a.Email)
	}
	return nil
}

// manager makes the folder and what gets certificates.
func (a ACME) manager() (*autocert.Manager, error) {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the folder of the certificates: %w", err)
	}
	info, err := os.Stat(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("looking at the folder of the certificates: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // which keeps rights elsewhere
		return nil, fmt.Errorf("the folder %s holds private keys and other users may look into it: run chmod 700 on it, or name another with --acme-dir", a.Dir)
	}
	return &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(a.Dir),
		HostPolicy: autocert.HostWhitelist(a.Hosts...),
		Email:      a.Email,
		Client:     &acme.Client{DirectoryURL: a.URL, HTTPClient: a.Client, UserAgent: "scorel-relay"},
	}, nil
}

// acmeCerts is the manager with an eye on how it does.
type acmeCerts struct {
	manager *autocert.Manager
	hosts   []string
	log     *slog.Logger
	metrics *metrics

	complained atomic.Int64 // Unix seconds
}

func (a *acmeCerts) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := a.manager.GetCertificate(hello)
	name := strings.ToLower(hello.ServerName)
	if !slices.Contains(a.hosts, name) || slices.Contains(hello.SupportedProtos, acmeProtocol) {
		return cert, err // a stranger's guess, or the authority itself
	}
	if err != nil {
		a.metrics.certErrors.Inc()
		a.complain(name, err)
		return nil, err
	}
	if cert.Leaf != nil {
		a.metrics.sawCertificate(name, cert.Leaf.NotAfter)
	}
	return cert, nil
}

func (a *acmeCerts) complain(name string, err error) {
	now, last := time.Now().Unix(), a.complained.Load()
	if now-last >= int64(complainEvery/time.Second) && a.complained.CompareAndSwap(last, now) {
		a.log.Error("no certificate could be had; can the authority reach port 443 of this name?", "name", name, "error", err)
	}
}
