// Package pgpool reads the address of a PostgreSQL database and says what its errors
// mean. The relay's store and the host's sessions are opened with it.
//
// The address is a URL as libpq reads it, such as
// postgres://user:password@host:5432/database?sslmode=verify-full. Nothing here puts
// it, or a part of it that could be of the password, into an error: Place is what
// may be shown.
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

// connectTimeout bounds one attempt to connect, unless the address has
// connect_timeout.
const connectTimeout = 5 * time.Second

// Defaults are what holds unless the address says otherwise.
type Defaults struct {
	// MaxConns bounds the connections of a pool; an address has pool_max_conns.
	MaxConns int32
	// Params are run-time parameters of the server, such as application_name.
	Params map[string]string
}

// Parse reads an address. called is what the address is to people, as in "the
// store's address"; the error holds no part of the address itself.
func Parse(address, called string, d Defaults) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, unreadable(called)
	}
	cfg, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, unreadable(called) // what it says may hold a part of the password
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
	return fmt.Errorf("%s cannot be read: give it as in postgres://user:password@host:5432/database, with other characters than letters and digits of the password percent-encoded", called)
}

// Place is "database on host:port".
func Place(cfg *pgxpool.Config) string {
	c := cfg.ConnConfig
	where := c.Host
	if !strings.HasPrefix(c.Host, "/") { // a Unix socket has no port that says anything
		where = net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port)))
	}
	return fmt.Sprintf("%s on %s", c.Database, where)
}
