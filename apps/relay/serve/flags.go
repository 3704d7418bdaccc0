package serve

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

// AddFlags adds the flags for TLS and shutdown, which both commands have.
func (o *Options) AddFlags(flags *flag.FlagSet) {
	flags.StringVar(&o.TLS.CertFile, "tls-cert", "", "`file` with the certificate, PEM with its chain; reloaded when it changes")
	flags.StringVar(&o.TLS.KeyFile, "tls-key", "", "`file` with the private key of the certificate, PEM")
	flags.Func("acme-host", "`name` to get a certificate for from an ACME authority, which must reach it at port 443; may be repeated", func(s string) error {
		o.TLS.ACME.Hosts = append(o.TLS.ACME.Hosts, s)
		return nil
	})
	flags.StringVar(&o.TLS.ACME.Email, "acme-email", "", "contact `address` for the ACME authority")
	flags.StringVar(&o.TLS.ACME.Dir, "acme-dir", "", "`folder` for ACME certificates and their keys (default: acme in the data folder)")
	flags.StringVar(&o.TLS.ACME.URL, "acme-url", "", "`URL` of the ACME authority's directory (default: Let's Encrypt)")
	flags.Func("drain", "`time` over which peers are asked to leave at shutdown, such as 1m or 0s (default: 30s with other nodes, 3s without)", func(s string) error {
		d, err := time.ParseDuration(s)
		switch {
		case err != nil:
			return errors.New("give a duration such as 30s or 1m")
		case d < 0 || d > time.Hour:
			return fmt.Errorf("%s is not between 0s and 1h", s)
		case d == 0:
			d = -1
		}
		o.Drain = d
		return nil
	})
}
