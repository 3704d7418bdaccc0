// Package pgpool parses the address of a PostgreSQL database and explains the
// database's errors. The relay's store and the host's sessions use it.
//
// The address is a URL as in libpq, such as
// postgres://user:password@host:5432/database?sslmode=verify-full. Nothing here
// puts it, or any part that could belong to the password, into an error: Place is
// what may be shown.
package pgpool

import (
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connectTimeout limits one attempt to connect, unless the address sets
// connect_timeout.
const connectTimeout = 5 * time.Second

// Defaults apply unless the address sets something else.
type Defaults struct {
	// MaxConns limits the connections of a pool; an address sets pool_max_conns.
	MaxConns int32
	// Params are run-time parameters of the server, such as application_name.
	Params map[string]string
}

// Parse parses an address. called is how people know the address, as in "the
// store's address"; the error contains no part of the address itself.
func Parse(address, called string, d Defaults) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, unreadable(called)
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, unreadable(called) // its text may contain a part of the password
	}
	if !u.Query().Has("pool_max_conns") {
		cfg.MaxConns = d.MaxConns
	}
	if cfg.ConnConfig.ConnectTimeout == 0 {
		cfg.ConnConfig.ConnectTimeout = connectTimeout
	}
	for name, value := range d.Params {
		if cfg.ConnConfig.RuntimeParams[name] == "" {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
	return cfg, nil
}

func unreadable(called string) error {
	return fmt.Errorf("%s is invalid: use postgres://user:password@host:5432/database, and percent-encode special characters in the password", called)
}

// Place returns "database on host:port".
func Place(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") { // the port of a Unix socket is not informative
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("%s on %s", c.Database, where)
}
