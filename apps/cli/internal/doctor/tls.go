package doctor

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// expirySoon is how long before its expiry a certificate causes a warning. Automatic
// renewal happens earlier.
const expirySoon = 14 * 24 * time.Hour

func (p *probe) tls(ctx context.Context) outcome {
	defer p.hangUp()
	switch {
	case p.target.Scheme == "ws":
		return skipped("http:// uses none")
	case p.conn == nil:
		return skipped("the connection is made behind the proxy; the next step uses it")
	}
	conn := tls.Client(p.conn, p.tlsConfig())
	if err := conn.HandshakeContext(ctx); err != nil {
		return p.explainTLS(err)
	}
	state := conn.ConnectionState()
	leaf := state.PeerCertificates[0]
	until := leaf.NotAfter.UTC().Format(time.DateOnly)
	if leaf.NotAfter.Sub(p.opts.Now()) < expirySoon {
		return warn(TLSSoon, "the certificate expires on %s", until)
	}
	return ok("%s, certificate of %s until %s", tls.VersionName(state.Version), issuer(leaf), until)
}

// explainTLS distinguishes the problems of a certificate.
func (p *probe) explainTLS(err error) outcome {
	var (
		plain   tls.RecordHeaderError
		bad     *tls.CertificateVerificationError
		name    x509.HostnameError
		invalid x509.CertificateInvalidError
		unknown x509.UnknownAuthorityError
	)
	host := p.target.Hostname()
	switch {
	case errors.As(err, &plain):
		return failed(TLSNone, unreachable(err), "%s does not speak TLS", hostPort(p.target))
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return failed(RelaySilent, unreachable(err), "%s accepted the connection but sent nothing", hostPort(p.target))
	case errors.Is(err, io.EOF), errors.As(err, new(*net.OpError)) && !errors.As(err, &bad):
		return failed(TLSFailed, unreachable(err), "%s ended the connection: %s", hostPort(p.target), reason(err))
	case !errors.As(err, &bad) || len(bad.UnverifiedCertificates) == 0:
		return failed(TLSFailed, unreachable(err), "%s", err)
	}
	leaf := bad.UnverifiedCertificates[0]
	switch {
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return p.outOfDate(err, invalid.Cert)
	case errors.As(err, &name):
		return failed(TLSName, unreachable(err), "the certificate is for %s, not for %s", names(leaf), host)
	case errors.As(err, &unknown) && leaf.CheckSignature(leaf.SignatureAlgorithm, leaf.RawTBSCertificate, leaf.Signature) == nil:
		return failed(TLSUntrusted, unreachable(err), "the certificate is self-signed")
	case errors.As(err, &unknown):
		return failed(TLSUntrusted, unreachable(err), "%s, which issued the certificate, is not trusted on this machine", issuer(leaf))
	}
	return failed(TLSFailed, unreachable(err), "the certificate is not accepted: %s", bad.Err)
}

// outOfDate distinguishes an expired certificate from one that is not valid yet.
func (p *probe) outOfDate(err error, cert *x509.Certificate) outcome {
	now := p.opts.Now()
	if now.Before(cert.NotBefore) {
		return failed(TLSEarly, unreachable(err), "the certificate is valid from %s, and this machine's clock says %s", stamp(cert.NotBefore), stamp(now))
	}
	return failed(TLSExpired, unreachable(err), "the certificate expired on %s, and this machine's clock says %s", stamp(cert.NotAfter), stamp(now))
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 MST") }

func issuer(cert *x509.Certificate) string {
	for _, name := range append([]string{cert.Issuer.CommonName}, cert.Issuer.Organization...) {
		if name != "" {
			return fmt.Sprintf("%q", name)
		}
	}
	return "an issuer without a name"
}

// mostNames bounds how many names of a certificate are shown.
const mostNames = 5

func names(cert *x509.Certificate) string {
	all := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		all = append(all, ip.String())
	}
	if len(all) == 0 {
		return "no name at all"
	}
	if len(all) > mostNames {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:mostNames], ", "), len(all)-mostNames)
	}
	return strings.Join(all, ", ")
}
