package mysql_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/store/rows/rowstest"
	"github.com/scorel/scorel/packages/testdb"
)

func TestErrorsSayWhatToDoAndNoSecret(t *testing.T) {
	unused := testdb.UnusedAddress(t)
	there, err := url.Parse(testdb.MariaDB(t))
	if err != nil {
		t.Fatal(err)
	}
	missing, refused := *there, *there
	missing.Path = "/no_such_database"
	refused.User = url.UserPassword("nobody", testdb.Secret)
	rowstest.CheckAddresses(t, database(), map[string]testdb.BadAddress{
		"not a URL":        {"user:" + testdb.Secret + "@tcp(host)/db", "is invalid: use mysql://"},
		"other scheme":     {"postgres://u:" + testdb.Secret + "@host/db", "is invalid"},
		"slash in it":      {"mysql://u:" + testdb.Secret + "/x@host/db", "percent-encode"},
		"no database":      {"mysql://u:" + testdb.Secret + "@host", "is invalid"},
		"no user":          {"mysql://host/db", "is invalid"},
		"no host":          {"mysql://u:" + testdb.Secret + "@/db", "is invalid"},
		"bad tls":          {"mysql://u:" + testdb.Secret + "@host/db?tls=maybe", "invalid tls option: use true, false, preferred or skip-verify"},
		"bad timeout":      {"mysql://u:" + testdb.Secret + "@host/db?timeout=soon", "invalid timeout: use a duration such as 5s"},
		"bad option":       {"mysql://u:" + testdb.Secret + "@host/db?charset=latin1", "unknown option: the options are tls, timeout and socket"},
		"no server":        {"mysql://u:" + testdb.Secret + "@" + unused + "/x", "the database x on " + unused + " cannot be reached: "},
		"no such database": {missing.String(), "does not exist: create it with CREATE DATABASE"},
		"wrong login":      {refused.String(), "rejects the login: check the user and password"},
	})
}

// TestTooLarge: a server takes statements up to a size. A line above it is refused
// in a sentence, and the session continues.
func TestTooLarge(t *testing.T) {
	p := database().Provider(t, testdb.MariaDB(t))
	log, err := p.Create(t.Context(), "prj_1", json.RawMessage(`{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x"}`))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	line := func(size int) json.RawMessage {
		return json.RawMessage(`{"type":"custom","id":"a` + fmt.Sprint(size) + `","parentId":null,"data":"` + strings.Repeat("x", size) + `"}`)
	}
	if err := log.Append(t.Context(), line(70<<20)); err == nil || !strings.Contains(err.Error(), "raise its max_allowed_packet") || errors.Is(err, store.ErrLost) {
		t.Errorf("a line of 70 MiB: %.300v", err)
	}
	if err := log.Append(t.Context(), line(15<<20), line(1)); err != nil {
		t.Errorf("a line of 15 MiB: %.300v", err)
	}
	file, err := p.Read(t.Context(), "s")
	if err != nil || len(file.Tree.Entries()) != 2 {
		t.Errorf("%d entries, %v", len(file.Tree.Entries()), err)
	}
}
