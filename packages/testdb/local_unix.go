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
	"strconv"
	"syscall"
)

// script starts a server in the folder $1 and accepts the lines "stop", which ends
// it with the signal $2, "kill" and "start"; it answers each with a line. When
// standard input closes it ends the server and removes the folder. Programs are
// ended only by their process id.
//
// A kill includes the processes of the server, where the system lists them. They notice
// the end of the server by themselves, except one that waits for a lock that another held:
// it can stay for good, and no new server starts in a folder while it does. The server is
// stopped first, so that it neither starts more nor ends in order.
const script = `
dir=$1 signal=$2
shift 2
run() {
	"$@" >>"$dir/log" 2>&1 </dev/null &
	server=$!
}
end() {
	test -z "$server" || kill -$1 $server 2>/dev/null
	wait $server
	server=
}
crash() {
	test -z "$server" || kill -STOP $server 2>/dev/null
	children=$(cat /proc/$server/task/$server/children 2>/dev/null)
	test -z "$children" || kill -KILL $children 2>/dev/null
	end KILL
}
run "$@"
while read -r command; do
	case $command in
	stop) end $signal; echo stopped ;;
	kill) crash; echo killed ;;
	start) test "$server" || run "$@"; echo started ;;
	esac
done
end $signal
cd / && rm -rf "$dir"
`

// program is a server of this machine.
type program struct {
	engine *engine
	user   string   // the account that packages create for it; "nobody" if there is none
	make   []string // the command that creates its files; DIR is replaced by the folder
	run    []string // the command that runs it
	end    string   // the signal that ends it
	admin  url.URL  // address of its superuser
}

// start creates the server's files in a new folder and starts it on a Unix socket.
// As root it runs as another user, since these servers refuse root.
func (p *program) start(ctx context.Context) (*server, error) {
	// Not the test's own folder: its parents are not accessible to other users, and
	// the path of a socket must be shorter than 108 bytes.
	dir, err := os.MkdirTemp("/tmp", "scdb")
	if err != nil {
		return nil, fmt.Errorf("local %s: %w", p.engine.kind, err)
	}
	s, err := p.startIn(ctx, dir)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("local %s: %w", p.engine.kind, err), os.RemoveAll(dir))
	}
	return s, nil
}

func (p *program) startIn(ctx context.Context, dir string) (*server, error) {
	attributes, err := dropRoot(dir, p.user)
	if err != nil {
		return nil, err
	}
	command := func(ctx context.Context, args ...string) *exec.Cmd {
		for i := range args {
			args[i] = string(bytes.ReplaceAll([]byte(args[i]), []byte("DIR"), []byte(dir)))
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir = dir // the user may have no access to the test's folder
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C"}
		cmd.SysProcAttr = &attributes
		return cmd
	}
	if out, err := command(ctx, p.make...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", filepath.Base(p.make[0]), err, bytes.TrimSpace(out))
	}
	// The keeper must outlive the context, which only limits the start.
	args := append([]string{"/bin/sh", "-c", script, "testdb", dir, p.end}, p.run...)
	k, err := keep(ctx, command(context.WithoutCancel(ctx), args...), nil)
	if err != nil {
		return nil, err
	}
	admin := p.admin
	if p.engine.kind == KindPostgres {
		admin.RawQuery = url.Values{"host": {dir}}.Encode()
	} else {
		admin.RawQuery = url.Values{"socket": {filepath.Join(dir, "socket")}}.Encode()
	}
	s := &server{engine: p.engine, admin: &admin, keeper: k, logs: filepath.Join(dir, "log")}
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", err, s.log()), k.pipe.Close(), k.output.Close())
	}
	return s, nil
}

// dropRoot returns how to start a process that a database server accepts, and gives
// that user the folder. The system must know the user.
func dropRoot(dir, name string) (syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return syscall.SysProcAttr{}, nil
	}
	account, err := user.Lookup(name)
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return syscall.SysProcAttr{}, fmt.Errorf("it does not run as root, and there is no user %s or nobody: %w", name, err)
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

// ownGroup keeps Ctrl-C in a terminal from reaching the keeper, which ends with the
// test process in any case and must survive to clean up.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}
