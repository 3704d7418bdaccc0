package mysql

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// errAddress quotes no part of the address, which could be part of the password.
var errAddress = errors.New("the address of the session database is invalid: use mysql://user:password@host:3306/database, and percent-encode special characters in the password")

// connectTimeout bounds one attempt to connect, unless the address has timeout.
const connectTimeout = 5 * time.Second

func parse(address string) (*mysql.Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "mysql" && u.Scheme != "mariadb" || u.User.Username() == "" {
		return nil, errAddress
	}
	database := strings.TrimPrefix(u.Path, "/")
	if database == "" || strings.Contains(database, "/") {
		return nil, errAddress
	}
	cfg := mysql.NewConfig()
	cfg.User, cfg.DBName, cfg.Net = u.User.Username(), database, "tcp"
	cfg.Passwd, _ = u.User.Password()
	if cfg.Addr = u.Host; u.Port() == "" {
		cfg.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	cfg.Timeout = connectTimeout
	cfg.MaxAllowedPacket = 0        // use the server's limit
	cfg.Logger = &mysql.NopLogger{} // errors are returned as well
	// Affected rows are those that an UPDATE matches, even if it does not change their values;
	// and parameters are sent with the statement, which saves a round trip.
	cfg.ClientFoundRows, cfg.InterpolateParams = true, true
	if err := options(cfg, u.Query()); err != nil {
		return nil, err
	}
	if cfg.Net == "tcp" && u.Hostname() == "" {
		return nil, errAddress
	}
	return cfg, nil
}

func options(cfg *mysql.Config, query url.Values) error {
	for name, values := range query {
		value := values[len(values)-1]
		switch name {
		case "socket":
			cfg.Net, cfg.Addr = "unix", value
		case "tls":
			switch value {
			case "true", "false", "preferred", "skip-verify":
				cfg.TLSConfig = value
			default:
				return errors.New("the address of the session database has an invalid tls option: use true, false, preferred or skip-verify")
			}
		case "timeout":
			d, err := time.ParseDuration(value)
			if err != nil || d <= 0 {
				return errors.New("the address of the session database has an invalid timeout: use a duration such as 5s")
			}
			cfg.Timeout = d
		default:
			return errors.New("the address of the session database has an unknown option: the options are tls, timeout and socket")
		}
	}
	return nil
}

// place is "database on host:port".
func place(cfg *mysql.Config) string { return fmt.Sprintf("%s on %s", cfg.DBName, cfg.Addr) }
