//go:build unix

package testdb

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
)

// startPostgres starts this machine's PostgreSQL. A durable one syncs its log, as
// is the default.
func startPostgres(ctx context.Context, e *engine, durable bool) (*server, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	run := []string{filepath.Join(bin, "postgres"), "-D", "DIR/data", "-k", "DIR", "-c", "listen_addresses=",
		"-c", "shared_buffers=32MB", "-c", "max_connections=200"}
	if !durable {
		run = append(run, "-c", "fsync=off", "-c", "full_page_writes=off")
	}
	p := program{
		engine: e, user: "postgres", run: run, end: "QUIT",
		make:  []string{filepath.Join(bin, "initdb"), "-D", "DIR/data", "-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8"},
		admin: url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/postgres"},
	}
	return p.start(ctx)
}

// startMariaDB starts this machine's MariaDB.
func startMariaDB(ctx context.Context, e *engine, durable bool) (*server, error) {
	daemon, errDaemon := findProgram("mariadbd", "mysqld")
	install, errInstall := findProgram("mariadb-install-db", "mysql_install_db")
	if err := errors.Join(errDaemon, errInstall); err != nil {
		return nil, err
	}
	run := []string{daemon, "--no-defaults", "--datadir=DIR/data", "--socket=DIR/socket", "--pid-file=DIR/pid", "--skip-networking",
		"--max-connections=400", "--innodb-buffer-pool-size=64M", "--innodb-log-file-size=32M", "--skip-log-bin", "--tmpdir=DIR"}
	if !durable {
		run = append(run, "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=0")
	}
	p := program{
		engine: e, user: "mysql", run: run, end: "KILL", // its files are removed with it
		make:  []string{install, "--no-defaults", "--datadir=DIR/data", "--auth-root-authentication-method=normal", "--skip-test-db"},
		admin: url.URL{Scheme: "mysql", User: url.User("root"), Path: "/mysql"},
	}
	return p.start(ctx)
}

// findProgram returns the first of the names that is on the PATH or in the folders
// that packages use for servers.
func findProgram(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
		for _, folder := range []string{"/usr/sbin", "/usr/libexec", "/usr/local/sbin", "/opt/homebrew/bin"} {
			if path := filepath.Join(folder, name); isProgram(path) {
				return path, nil
			}
		}
	}
	return "", errors.New("no " + names[0] + " on the PATH or in /usr/sbin")
}

// findPostgres returns the folder with postgres and initdb: from the PATH,
// otherwise the newest installed by packages.
func findPostgres() (string, error) {
	var found []string
	if path, err := exec.LookPath("postgres"); err == nil {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, filepath.Dir(real))
		}
	}
	for _, pattern := range []string{"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql@*/bin"} {
		folders, err := filepath.Glob(pattern)
		if err != nil {
			return "", err
		}
		slices.SortFunc(folders, func(a, b string) int { return majorOf(b) - majorOf(a) })
		found = append(found, folders...)
	}
	for _, folder := range found {
		if isProgram(filepath.Join(folder, "postgres")) && isProgram(filepath.Join(folder, "initdb")) {
			return folder, nil
		}
	}
	return "", errors.New("no postgres and initdb on the PATH or in /usr/lib/postgresql")
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// majorOf returns the version in a folder such as /usr/lib/postgresql/15/bin.
func majorOf(folder string) int {
	digits := bytes.TrimLeftFunc([]byte(filepath.Base(filepath.Dir(folder))), func(r rune) bool { return r < '0' || r > '9' })
	n, _ := strconv.Atoi(string(digits)) // 0 sorts last
	return n
}
