package cli

import (
	"context"
	"net/url"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/scorel/scorel/packages/testdb"
)

// dbPassword is in every URL of a test database. The server may not ask for it,
// but nothing may print it.
const dbPassword = "hunter2"

func cmdPostgres(ts *testscript.TestScript, _ *stage, args []string) {
	withDatabase(ts, args, testdb.Create)
}

func cmdMariaDB(ts *testscript.TestScript, _ *stage, args []string) {
	withDatabase(ts, args, testdb.CreateMariaDB)
}

// withDatabase sets the variable that args name to the URL of a new database, or to its
// name if the variable ends in _name.
func withDatabase(ts *testscript.TestScript, args []string, create func(context.Context) (string, func() error, error)) {
	wantArgs(ts, args, 1)
	dsn, drop, err := create(context.Background())
	ts.Check(err)
	ts.Defer(func() { ts.Check(drop()) })
	u, err := url.Parse(dsn)
	ts.Check(err)
	if _, given := u.User.Password(); !given && u.Scheme == "postgres" { // a container has a real password, and MariaDB checks it
		u.User = url.UserPassword(u.User.Username(), dbPassword)
	}
	ts.Setenv(args[0], u.String())
	ts.Setenv(args[0]+"_name", u.Path[1:])
}
