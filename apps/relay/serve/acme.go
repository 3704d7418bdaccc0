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

// acmeProtocol is the ALPN protocol with which the authority verifies a name.
const acmeProtocol = acme.ALPNProto

// warnEvery is the minimum time between log lines about failures to get a
// certificate.
const warnEvery = time.Minute

// ACME gets certificates from an authority such as Let's Encrypt, which connects to
// port 443 of each host to verify it. Using it accepts the authority's terms.
type ACME struct {
	Hosts  []string     // names to get certificates for; none switches ACME off
	Email  string       // contact address for the authority; may be empty
	Dir    string       // folder of keys and certificates, mode 0700; "" is "acme" in the data folder
	URL    string       // the authority's directory; "" is Let's Encrypt
	Client *http.Client // reaches the authority; nil is http.DefaultClient
}

func (a ACME) enabled() bool { return len(a.Hosts) > 0 }

func (a ACME) check(publicURLs []string) error {
	if !a.enabled() {
		if a.Email != "" || a.Dir != "" || a.URL != "" {
			return errors.New("--acme-email, --acme-dir and --acme-url have no effect without a host name: add --acme-host")
		}
		return nil
	}
	for _, host := range a.Hosts {
		if err := checkName(host, publicURLs); err != nil {
			return err
		}
	}
	if a.URL != "" && !strings.HasPrefix(a.URL, "https://") {
		return fmt.Errorf("--acme-url %q is not the https address of an ACME directory, such as https://ca.example/directory", a.URL)
	}
	if a.Email != "" && !strings.Contains(a.Email, "@") {
		return fmt.Errorf("--acme-email %q is not an email address, such as ops@example.org", a.Email)
	}
	return nil
}

// manager creates the folder and the certificate manager.
func (a ACME) manager() (*autocert.Manager, error) {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the folder of the certificates: %w", err)
	}
	info, err := os.Stat(a.Dir)
	if err != nil {
		return nil, fmt.Errorf("examining the folder of the certificates: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" { // where the mode does not describe access
		return nil, fmt.Errorf("the folder %s contains private keys and is accessible to other users: run chmod 700 on it, or choose another with --acme-dir", a.Dir)
	}
	return &autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(a.Dir),
		HostPolicy: autocert.HostWhitelist(a.Hosts...),
		Email:      a.Email,
		Client:     &acme.Client{DirectoryURL: a.URL, HTTPClient: a.Client, UserAgent: "scorel-relay"},
	}, nil
}

// acmeCerts is the manager with metrics and logging.
type acmeCerts struct {
	manager *autocert.Manager
	hosts   []string
	log     *slog.Logger
	metrics *metrics

	warned atomic.Int64 // Unix seconds
}

func (a *acmeCerts) get(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	cert, err := a.manager.GetCertificate(hello)
	name := strings.ToLower(hello.ServerName)
	if !slices.Contains(a.hosts, name) || slices.Contains(hello.SupportedProtos, acmeProtocol) {
		return cert, err // a name that is not ours, or a check by the authority itself
	}
	if err != nil {
		a.metrics.certErrors.Inc()
		a.warn(name, err)
		return nil, err
	}
	if cert.Leaf != nil {
		a.metrics.sawCertificate(name, cert.Leaf.NotAfter)
	}
	return cert, nil
}

func (a *acmeCerts) warn(name string, err error) {
	now, last := time.Now().Unix(), a.warned.Load()
	if now-last >= int64(warnEvery/time.Second) && a.warned.CompareAndSwap(last, now) {
		a.log.Error("no certificate could be obtained; can the authority reach port 443 of this name?", "name", name, "error", err)
	}
}
