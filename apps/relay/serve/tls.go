package serve

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// TLS configures how the listener authenticates itself: with certificate files, or
// with certificates from ACME. The zero TLS serves plain HTTP, for a proxy in
// front.
type TLS struct {
	CertFile string // PEM, the leaf first; reloaded when it changes
	KeyFile  string // PEM; reloaded when it changes
	ACME     ACME
}

// Enabled reports whether the listener uses TLS.
func (t TLS) Enabled() bool { return t.CertFile != "" || t.KeyFile != "" || t.ACME.enabled() }

// Check returns what is wrong with the combination, or nil. It opens no file.
func (t TLS) Check(publicURLs []string) error {
	files := t.CertFile != "" || t.KeyFile != ""
	switch {
	case files && t.ACME.enabled():
		return errors.New("certificates come from files or from ACME, not both: remove --tls-cert and --tls-key, or --acme-host")
	case t.CertFile != "" && t.KeyFile == "":
		return errors.New("--tls-cert needs the private key of the certificate: set its file with --tls-key")
	case t.KeyFile != "" && t.CertFile == "":
		return errors.New("--tls-key needs the certificate: set its file with --tls-cert")
	}
	return t.ACME.check(publicURLs)
}

// secured is the TLS part of a listener. get is called for every handshake.
type secured struct {
	config *tls.Config
	reload func() error // reads files again; nil if there are none
}

// secure returns nil for plain HTTP. TLS.Check must have succeeded.
func secure(opts Options, m *metrics) (*secured, error) {
	if !opts.TLS.Enabled() {
		return nil, nil
	}
	if opts.TLS.ACME.enabled() {
		acme := opts.TLS.ACME
		if acme.Dir == "" {
			acme.Dir = filepath.Join(opts.DataDir, "acme")
		}
		manager, err := acme.manager()
		if err != nil {
			return nil, err
		}
		source := &acmeCerts{manager: manager, hosts: acme.Hosts, log: opts.Logger, metrics: m}
		return &secured{config: tlsConfig(source.get, acmeProtocol)}, nil
	}
	files := &certFiles{certFile: opts.TLS.CertFile, keyFile: opts.TLS.KeyFile, log: opts.Logger, metrics: m}
	if err := files.load(); err != nil {
		return nil, err
	}
	warnOfNames(opts.Logger, files.current.Load(), opts.PublicURLs)
	return &secured{config: tlsConfig(files.get), reload: files.reload}, nil
}

// tlsConfig offers only HTTP/1.1, which the WebSocket handshake needs.
func tlsConfig(get func(*tls.ClientHelloInfo) (*tls.Certificate, error), more ...string) *tls.Config {
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     append([]string{"http/1.1"}, more...),
		GetCertificate: get,
	}
}

// warnOfNames logs public names that the certificate does not cover: browsers and
// hosts that dial them will refuse it.
func warnOfNames(log *slog.Logger, cert *tls.Certificate, publicURLs []string) {
	for _, host := range publicHosts(publicURLs) {
		if cert.Leaf.VerifyHostname(host) != nil {
			log.Warn("the certificate does not cover a name of this relay; peers that dial it will refuse to connect", "name", host, "certificateNames", cert.Leaf.DNSNames)
		}
	}
}

// publicHosts returns the host names of the https addresses, without ports.
func publicHosts(publicURLs []string) []string {
	var out []string
	for _, raw := range publicURLs {
		if u, err := url.Parse(raw); err == nil && u.Scheme == "https" {
			out = append(out, strings.ToLower(u.Hostname()))
		}
	}
	return out
}

// checkName rejects names for which no certificate authority issues a certificate.
func checkName(host string, publicURLs []string) error {
	_, ipErr := netip.ParseAddr(strings.Trim(host, "[]"))
	switch {
	case ipErr == nil, !strings.Contains(strings.Trim(host, "."), "."), strings.ContainsAny(host, ":/*@ "), host != strings.ToLower(host):
		return fmt.Errorf("--acme-host %q is not a full host name, such as relay.example.org: leave out scheme, port and wildcard, and use lower case", host)
	case !slices.Contains(publicHosts(publicURLs), host):
		return fmt.Errorf("--acme-host %s is not one of the public addresses, so logins there would fail: add --public-url https://%s", host, host)
	}
	return nil
}
