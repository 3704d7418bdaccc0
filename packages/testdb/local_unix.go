//go:build unix

package testdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// script starts the server $1 on the folder $2 and obeys the lines "stop", after
// which it prints one, and "start". It ends the server by its process id when
// standard input closes.
const script = `
run() {
	"$1" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off \
		-c full_page_writes=off -c shared_buffers=32MB -c max_connections=200 >>"$2/log" 2>&1 </dev/null &
	server=$!
}
end() {
	test -z "$server" || kill -QUIT $server
	wait $server
	server=
}
run "$1" "$2"
while read -r command; do
	case $command in
	stop) end; echo stopped ;;
	start) test "$server" || run "$1" "$2"; echo started ;;
	esac
done
end
cd / && rm -rf "$2"
`

// startLocal starts the PostgreSQL of this machine on a Unix socket. As root it
// runs as another user, since PostgreSQL refuses root.
func startLocal(ctx context.Context) (*server, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	// Not the test's own folder: its parents are closed to other users, and the
	// path of a socket must be shorter than 108 bytes.
	dir, err := os.MkdirTemp("/tmp", "scpg")
	if err != nil {
		return nil, fmt.Errorf("local PostgreSQL: %w", err)
	}
	s, err := startIn(ctx, bin, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("local PostgreSQL: %w", err), os.RemoveAll(dir))
	}
	return s, nil
}

func startIn(ctx context.Context, bin, dir string) (*server, error) {
	attributes, err := dropRoot(dir)
	if err != nil {
		return nil, err
	}
	command := func(ctx context.Context, name string, args ...string) *exec.Cmd {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir // the user may not enter where the test runs
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"}
		cmd.SysProcAttr = &attributes
		return cmd
	}
	initdb := command(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(dir, "data"),
		"-A", "trust", "-U", "postgres", "--no-sync", "--locale=C", "-E", "UTF8")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w: %s", err, bytes.TrimSpace(out))
	}
	// The keeper must outlive the context, which only bounds the start.
	k, err := keep(ctx, command(context.WithoutCancel(ctx), "/bin/sh", "-c", script, "testdb", filepath.Join(bin, "postgres"), dir), nil)
	if err != nil {
		return nil, err
	}
	s := &server{keeper: k, admin: &url.URL{
		Scheme: "postgres", User: url.User("postgres"), Path: "/postgres", RawQuery: url.Values{"host": {dir}}.Encode(),
	}}
	if err := s.awaitReady(ctx); err != nil {
		log, readErr := os.ReadFile(filepath.Join(dir, "log"))
		return nil, errors.Join(fmt.Errorf("%w: %s", err, bytes.TrimSpace(log)), readErr, k.pipe.Close(), k.output.Close())
	}
	return s, nil
}

// dropRoot returns how to start a process that PostgreSQL accepts, and gives that
// user the folder. It must be a user that the system knows.
func dropRoot(dir string) (syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return syscall.SysProcAttr{}, nil
	}
	account, err := user.Lookup("postgres")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return syscall.SysProcAttr{}, fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres or nobody: %w", err)
	}
	uid, err := strconv.ParseUint(account.Uid, 10, 32)
	if err != nil {
		return syscall.SysProcAttr{}, fmt.Errorf("user %s: %w", account.Username, err)
	}
	gid, err := strconv.ParseUint(account.Gid, 10, 32)
	if err != nil {
		return syscall.SysProcAttr{}, fmt.Errorf("user %s: %w", account.Username, err)
	}
	if err := os.Chown(dir, int(uid), int(gid)); err != nil {
		return syscall.SysProcAttr{}, err
	}
	return syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// ownGroup keeps Ctrl-C in a terminal from the keeper, which ends with the test
// process in any case and must be there to clean up.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// findBinaries returns the folder that holds postgres and initdb: that of the
// PATH, else the newest where packages put them.
func findBinaries() (string, error) {
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

// majorOf reads the version from a folder such as /usr/lib/postgresql/15/bin.
func majorOf(folder string) int {
	digits := bytes.TrimLeftFunc([]byte(filepath.Base(filepath.Dir(folder))), func(r rune) bool { return r < '0' || r > '9' })
	n, _ := strconv.Atoi(string(digits)) // 0 sorts last
	return n
}
