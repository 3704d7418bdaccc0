package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

// restartedVariable tells a host that it replaces one which a person started before, so that no
// browser is opened and nothing is printed for a program that has read the first lines.
const restartedVariable = "SCOREL_RESTARTED"

// How long a host is waited for.
const (
	defaultRestartWait = 5 * time.Minute
	revivePatience     = 7 * time.Second // until a service manager starts a host again that failed
	goneFor            = 2 * time.Second // a process that executes another program looks ended for an instant
	resumePatience     = 5 * time.Second // until a host that is not replaced continues
)

// errNotBack means that the host that was replaced has not come back.
var errNotBack = errors.New("the host did not start again")

// errOtherOwner means that the files of the host belong to another user than the one of this process.
var errOtherOwner = errors.New("the host belongs to another user")

// restartHost pauses the host of a home, calls swap, which may be nil and must be quick, and has
// the host execute its program again. It returns what is known about the host before and after. If the
// error is errNotBack, no host runs any more; after any other one, the host continues.
func restartHost(ctx context.Context, home string, wait time.Duration, swap func() error) (before, after host.State, err error) {
	if before, err = host.ReadState(home); err != nil {
		return before, after, err
	}
	if err := useLocal(ctx, home, func(c *client.Client) error { return pauseAndRestart(ctx, c, wait, swap) }); err != nil {
		return before, after, err
	}
	after, err = awaitHost(ctx, home, before, startTimeout)
	return before, after, err
}

// pauseAndRestart does what restartHost says, over a connection to the host.
func pauseAndRestart(ctx context.Context, c *client.Client, wait time.Duration, swap func() error) error {
	if _, err := client.Call(ctx, c, api.PauseHost, api.PauseHostRequest{WaitSeconds: int64(wait / time.Second)}); err != nil {
		return err
	}
	var err error
	if swap != nil {
		err = swap()
	}
	if err == nil {
		_, err = client.Call(ctx, c, api.RestartHost, api.Empty{})
	}
	// The connection may end before the answer, because the host is stopping.
	if err == nil || errors.Is(err, client.ErrLost) {
		return nil
	}
	resume, cancel := context.WithTimeout(context.WithoutCancel(ctx), resumePatience)
	defer cancel()
	// Without this, also with a host of an earlier version, the pause ends by itself.
	_, _ = client.Call(resume, c, api.ResumeHost, api.Empty{})
	return err
}

// awaitHost waits until another host than the one before serves a home.
func awaitHost(ctx context.Context, home string, before host.State, patience time.Duration) (after host.State, err error) {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var gone time.Time // since when the process is seen to have ended
	err = poll(waiting, func() (bool, error) {
		state, err := host.ReadState(home)
		if err == nil && (state.StartedAt != before.StartedAt || state.PID != before.PID) && answers(waiting, state) {
			after = state
			return true, nil
		}
		switch {
		case before.PID == os.Getpid() || !host.Ended(before.PID):
			gone = time.Time{}
		case gone.IsZero():
			gone = time.Now()
		case time.Since(gone) > goneFor:
			return false, errNotBack
		}
		return false, nil
	})
	if err != nil && ctx.Err() == nil {
		err = errNotBack
	}
	return after, err
}

// answers reports whether a host accepts connections.
func answers(ctx context.Context, state host.State) bool {
	transport, err := client.DialDirect(ctx, state.Addr, state.Token)
	if err != nil {
		return false
	}
	_ = transport.Close()
	return true
}

// startOver executes this program again in this process, for a host that is to begin again.
func startOver(env *environment) error {
	home, err := env.home()
	if err != nil {
		return err
	}
	keys := map[string]string{}
	for _, name := range host.SecretVariables(home, env.getenv) {
		if value := os.Getenv(name); value != "" {
			keys[name] = value
		}
	}
	if err := os.Setenv(restartedVariable, "1"); err != nil {
		return fmt.Errorf("executing the program again: %w", err)
	}
	return startAgain(keys)
}

// takeRestarted reports whether this process replaces a host, and removes the sign of it.
func takeRestarted() (bool, error) {
	if os.Getenv(restartedVariable) == "" {
		return false, nil
	}
	if err := os.Unsetenv(restartedVariable); err != nil {
		return false, fmt.Errorf("reading the environment: %w", err)
	}
	return true, nil
}

// reviveHost starts a host that failed again with the program at a path and the arguments that it had,
// in the background, unless a service manager is faster. The error is errOtherOwner if the home is not
// that of the user with the number uid, of this process: it would leave files there that the owner
// cannot use.
func reviveHost(ctx context.Context, home, program string, before host.State, uid int) (host.State, error) {
	none := host.State{PID: os.Getpid()} // any host is another one
	if after, err := awaitHost(ctx, home, none, revivePatience); err == nil {
		return after, nil
	}
	if otherOwner(home, uid) != "" {
		return host.State{}, errOtherOwner
	}
	log, err := os.OpenFile(filepath.Join(home, hostLogName), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return host.State{}, fmt.Errorf("opening the log of the host: %w", err)
	}
	defer func() { _ = log.Close() }() // the host has its own
	cmd := exec.Command(program, before.Args...)
	// The host may have had its home from its environment, which is not that of this command.
	cmd.Env = append(os.Environ(), restartedVariable+"=1", "SCOREL_HOME="+home)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = cmp.Or(before.Folder, home), log, log, detached()
	if err := cmd.Start(); err != nil {
		return host.State{}, fmt.Errorf("starting the host: %w", err)
	}
	if err := cmd.Process.Release(); err != nil {
		return host.State{}, fmt.Errorf("starting the host: %w", err)
	}
	return awaitHost(ctx, home, none, startTimeout)
}

// withoutInvite leaves the secret of --invite out of arguments: a host needs it only once.
func withoutInvite(args []string) (kept []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--invite":
			i++
		case !strings.HasPrefix(args[i], "--invite="):
			kept = append(kept, args[i])
		}
	}
	return kept
}
