package testdb

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"testing"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
)

func execPostgres(ctx context.Context, address, statement string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, statement)
	return errors.Join(err, conn.Close(ctx))
}

func execMySQL(ctx context.Context, address, statement string) error {
	db, err := openMySQL(address)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

func openMySQL(address string) (*sql.DB, error) {
	config, err := mysqlConfig(address)
	if err != nil {
		return nil, err
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// OpenMariaDB opens a database by its URL for a test's own queries. It is closed
// with the test.
func OpenMariaDB(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db, err := openMySQL(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// mysqlConfig parses the URLs of this package: a Unix socket is in the query, as
// for PostgreSQL.
func mysqlConfig(address string) (*mysql.Config, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("testdb: %w", err)
	}
	config := mysql.NewConfig()
	config.Logger = &mysql.NopLogger{} // a starting server is polled many times
	config.User, config.DBName = u.User.Username(), u.Path[1:]
	config.Passwd, _ = u.User.Password()
	config.Net, config.Addr = "tcp", u.Host
	if socket := u.Query().Get("socket"); socket != "" {
		config.Net, config.Addr = "unix", socket
	} else if u.Port() == "" {
		config.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	return config, nil
}
