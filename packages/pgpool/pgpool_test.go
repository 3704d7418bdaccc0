package pgpool_test

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/scorel/scorel/packages/pgpool"
	"github.com/scorel/scorel/packages/testdb"
)

const called = "the address of the test"

// connect does what a caller does: one connection, and its error explained.
func connect(t *testing.T, address string) error {
	cfg, err := pgpool.Parse(address, called, pgpool.Defaults{MaxConns: 3})
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(t.Context(), cfg.ConnConfig)
	if err != nil {
		return pgpool.Explainer{Place: pgpool.Place(cfg)}.Explain(err)
	}
	return conn.Close(t.Context())
}

func TestErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	unused := testdb.UnusedAddress(t)
	missing, err := url.Parse(testdb.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	missing.User, missing.Path = url.UserPassword("postgres", testdb.Secret), "/no_such_database"
	const user = "postgres://u:" + testdb.Secret
	testdb.CheckAddresses(t, connect, map[string]testdb.BadAddress{
		"not a URL":        {"user:" + testdb.Secret + "@host/db", called + " is invalid: use postgres://"},
		"other scheme":     {"mysql://u:" + testdb.Secret + "@host/db", "is invalid"},
		"slash in it":      {user + "/x@host/db", "percent-encode"},
		"bad port":         {user + "@host:port/db", "is invalid"},
		"bad option":       {user + "@host/db?pool_max_conns=many", "is invalid"},
		"no server":        {user + "@" + unused + "/x", "the database x on " + unused + " cannot be reached ("},
		"answers nothing":  {user + "@" + silent.Addr().String() + "/x?connect_timeout=1&sslmode=disable", "cannot be reached ("},
		"no such database": {missing.String(), "does not exist: create it with createdb"},
	})
}

func TestTheAddressHasTheLastWord(t *testing.T) {
	defaults := pgpool.Defaults{MaxConns: 3, Params: map[string]string{"application_name": "ours"}}
	for address, want := range map[string]struct {
		conns   int32
		name    string
		seconds float64
		place   string
	}{
		"postgres://u@h/d": {3, "ours", 5, "d on h:5432"},
		"postgresql://u@h:1/d?pool_max_conns=7&application_name=x&connect_timeout=2": {7, "x", 2, "d on h:1"},
		"postgres://u@/d?host=/run/db": {3, "ours", 5, "d on /run/db"},
	} {
		cfg, err := pgpool.Parse(address, called, defaults)
		if err != nil {
			t.Errorf("%s: %v", address, err)
			continue
		}
		c := cfg.ConnConfig
		if cfg.MaxConns != want.conns || c.RuntimeParams["application_name"] != want.name || c.ConnectTimeout.Seconds() != want.seconds {
			t.Errorf("%s: %d connections, name %q, %v to connect", address, cfg.MaxConns, c.RuntimeParams["application_name"], c.ConnectTimeout)
		}
		if got := pgpool.Place(cfg); got != want.place {
			t.Errorf("%s: place %q, want %q", address, got, want.place)
		}
	}
}

// TestRefusals: every code has its sentence, the caller's kind and the cause.
func TestRefusals(t *testing.T) {
	readOnly, full := errors.New("takes no writes"), errors.New("no space")
	e := pgpool.Explainer{Place: "d on h:1", ReadOnly: readOnly, Full: full, NoTable: "has no tables of ours"}
	for code, tc := range map[string]struct {
		want string
		kind error
	}{
		"28P01": {"the database d on h:1 rejects the login: check the user and password: ", nil},
		"28000": {"rejects the login", nil},
		"3D000": {"does not exist", nil},
		"42P01": {"the database d on h:1 has no tables of ours: ", nil},
		"53300": {"lower pool_max_conns in its address: ", nil},
		"42501": {"make this user its owner: takes no writes (", readOnly},
		"25006": {"use the address of its primary: takes no writes (", readOnly},
		"53100": {"the database d on h:1: no space (", full},
	} {
		cause := &pgconn.PgError{Code: code, Message: "m"}
		err := e.Explain(cause)
		if !strings.Contains(err.Error(), tc.want) || !errors.Is(err, cause) || tc.kind != nil && !errors.Is(err, tc.kind) {
			t.Errorf("%s: %v", code, err)
		}
	}
}

func TestNoKindAddsNothing(t *testing.T) {
	e := pgpool.Explainer{Place: "d on h:1"}
	readOnly := &pgconn.PgError{Code: "25006", Message: "m"}
	if got, want := e.Explain(readOnly).Error(), "the database d on h:1 is read-only: use the address of its primary: "+readOnly.Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for _, err := range []error{nil, errors.New("unrelated"), &pgconn.PgError{Code: "53100"}, &pgconn.PgError{Code: "40001"}} {
		if got := e.Explain(err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
}

// FuzzParse: no address is a panic, and no error shows it.
func FuzzParse(f *testing.F) {
	f.Add("postgres://u:pass@h:1/d?pool_max_conns=7")
	f.Add("postgres://u:pa/ss@h/d")
	f.Fuzz(func(t *testing.T, address string) {
		if _, err := pgpool.Parse(address, called, pgpool.Defaults{}); err != nil && !strings.HasPrefix(err.Error(), called+" is invalid: use postgres://") {
			t.Errorf("%q: %v", address, err)
		}
	})
}
