package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/updater"
	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/release"
)

type updateFlags struct {
	check, rollback, noRestart, asJSON bool
	from                               string
	wait                               time.Duration
}

// updateResult says what an update has done, or would do.
type updateResult struct {
	Version   string `json:"version"`          // of this program
	Newest    string `json:"newest,omitempty"` // at the address
	Available bool   `json:"available"`        // the newest is newer than this program
	Updated   bool   `json:"updated"`          // the program was replaced
	Path      string `json:"path"`
	Host      string `json:"host,omitempty"` // version of the host that runs on this machine
	Restarted bool   `json:"restarted"`      // the host was replaced, too
}

func newUpdate(a *app) *cobra.Command {
	var f updateFlags
	cmd := &cobra.Command{
		Use:   "update",
		Short: "Replace this program with the newest release",
		Long: `Replace this program with the newest release. The signature, the size and the checksum are
verified and the new program is started once before anything is replaced; an older release
is refused. The program before it stays beside it, for --rollback.

A host that runs on this machine is replaced too. Its turns and background commands are
waited for; if they take longer than --wait, nothing is changed. Approvals, questions and
queues wait for the new host. If that does not start, the earlier program is put back.
With sudo it is the host of the user who called sudo, unless root has one or --home is given.

A program that a package manager has installed is not replaced.`,
		Example: `  scorel update --check
  scorel update
  scorel update --wait 1h
  scorel update --rollback
  scorel update --from https://mirror.example/scorel --json`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			u := &updating{console: a.console, env: a.env, args: a.invocation.args, flags: f}
			return u.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&f.check, "check", false, "only say whether there is a newer release")
	cmd.Flags().BoolVar(&f.rollback, "rollback", false, "return to the program before the last update")
	cmd.Flags().StringVar(&f.from, "from", "", "address of the folder of a release (SCOREL_RELEASE_URL; default: the newest one of the project)")
	cmd.Flags().BoolVar(&f.noRestart, "no-restart", false, "leave a running host on the earlier version until it is restarted")
	addWait(cmd, &f.wait)
	addJSON(cmd, &f.asJSON)
	return cmd
}

// updating is one update of this program, and of the host that runs on this machine.
type updating struct {
	console
	env   *environment
	args  []string // of the command line
	flags updateFlags
	path  string // of the program
}

func (u *updating) run(ctx context.Context) (err error) {
	f := u.flags
	if f.check && f.rollback {
		return usagef("--check and --rollback contradict each other: give one of them")
	}
	if err := checkWait(f.wait); err != nil {
		return err
	}
	if u.path, err = thisProgram(); err != nil {
		return err
	}
	u.env.findHostOfCaller(os.Geteuid(), user.LookupId)
	if f.rollback {
		return u.rollBack(ctx)
	}
	if releaseKeys == "" {
		if err := unmanaged(u.path, version); err != nil { // as in an image that was built from source
			return err
		}
		return usagef("this program was built from source and trusts no key of a release: build it again, or install a release")
	}
	source, err := updater.NewSource(cmp.Or(f.from, u.env.getenv("SCOREL_RELEASE_URL"), updater.DefaultURL), strings.Split(releaseKeys, ","))
	if err != nil {
		return usagef("%s", err)
	}
	defer source.Close()
	index, err := source.Newest(ctx)
	if err != nil {
		return updateError(err)
	}
	result := updateResult{Version: version, Newest: index.Version, Path: u.path, Available: release.Compare(index.Version, version) > 0, Host: hostVersion(u.env)}
	if f.check || index.Version == version {
		return u.print(result)
	}
	if !result.Available {
		return sayf(errors.Join(errRefused, updater.ErrOlder), "the release %s is older than this program (%s): nothing was changed", index.Version, version)
	}
	if err := unmanaged(u.path, index.Version); err != nil {
		return err
	}
	program, err := source.Program(ctx, index, runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return updateError(err)
	}
	staged, err := updater.Stage(ctx, u.path, program, index.Version)
	if err != nil {
		return u.replaceError(err, os.Geteuid())
	}
	return u.exchange(ctx, result, staged)
}

// exchange puts a program that was tried in the place of this one, and replaces the host that runs on
// this machine. Nothing but renames happens while the host is paused: it may be for half a minute.
func (u *updating) exchange(ctx context.Context, result updateResult, staged *updater.Staged) error {
	defer staged.Discard()
	if result.Host == "" || u.flags.noRestart || runtime.GOOS == "windows" {
		if err := staged.Put(); err != nil {
			return updateError(err)
		}
		result.Updated = true
		return u.print(result)
	}
	fmt.Fprintf(u.stderr, "scorel: waiting up to %s until the turns of the host have ended\n", u.flags.wait)
	home, err := u.env.home()
	if err != nil {
		return err
	}
	swapped := false
	before, after, err := restartHost(ctx, home, u.flags.wait, func() error {
		err := staged.Put()
		swapped = err == nil
		return err
	})
	unknown := new(api.Error)
	switch {
	case err == nil:
		result.Updated, result.Restarted, result.Host = true, true, after.Version
		return u.print(result)
	case errors.Is(err, errNotBack):
		return u.undo(ctx, home, before)
	case errors.As(err, &unknown) && unknown.Kind == api.KindUnknownRequest: // a host of an earlier version
		if err := staged.Put(); err != nil {
			return updateError(err)
		}
		result.Updated = true
		return u.print(result)
	case swapped:
		return sayf(err, "the program was replaced, but the host was not restarted: %s", sentence(err))
	case errors.As(err, &unknown) && unknown.Kind == api.KindConflict:
		return sayf(err, "nothing was changed: %s (--wait waits longer, --no-restart leaves the host on its version)", sentence(err))
	}
	return updateError(err)
}

// undo puts the program before the update back, and starts the host with it that the new one did
// not start.
func (u *updating) undo(ctx context.Context, home string, before host.State) error {
	if err := updater.Rollback(ctx, u.path); err != nil {
		return sayf(errors.Join(errUnreachable, err), "the new program did not start the host, and the earlier one could not be put back: %s", sentence(err))
	}
	after, err := reviveHost(ctx, home, u.path, before, os.Geteuid())
	if errors.Is(err, errOtherOwner) {
		return u.undoneForOther(err, home, before)
	}
	if err != nil {
		return sayf(errors.Join(errUnreachable, err), "the new program did not start the host. The earlier one was put back, but does not start it either: start it as before, and see its log for why")
	}
	return sayf(updater.ErrNotRunning, "the new program did not start the host. The earlier one was put back, and the host runs with version %s again (process %d)", printable(after.Version), after.PID)
}

// undoneForOther says how the user of a host starts it again.
func (u *updating) undoneForOther(cause error, home string, before host.State) error {
	owner := printable(otherOwner(home, os.Geteuid()))
	return sayf(errors.Join(errUnreachable, cause), "the new program did not start the host. The earlier one was put back. The host belongs to %s: as that user, run `%s`",
		owner, commandLine(append([]string{u.path}, withHome(before.Args, home)...)...))
}

func (u *updating) rollBack(ctx context.Context) error {
	if err := unmanaged(u.path, ""); err != nil {
		return err
	}
	result := updateResult{Version: version, Path: u.path, Host: hostVersion(u.env)}
	staged, err := updater.StageEarlier(ctx, u.path)
	if err != nil {
		return u.replaceError(err, os.Geteuid())
	}
	return u.exchange(ctx, result, staged)
}

// thisProgram returns the path of the program, behind links that lead to it.
func thisProgram() (string, error) {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", fmt.Errorf("finding this program: %w", err)
	}
	return path, nil
}

// unmanaged returns an error that says what to do if a package manager has installed the
// program.
func unmanaged(path, newest string) error {
	manager, err := updater.Manager(path)
	if err != nil || manager == "" {
		return err
	}
	file := fmt.Sprintf("scorel_%s_%s", strings.TrimPrefix(newest, "v"), runtime.GOARCH)
	how, known := map[string]string{
		"deb":       "download the package and run `sudo apt install ./" + file + ".deb`",
		"rpm":       "download the package and run `sudo dnf install ./" + file + ".rpm`",
		"npm":       "run `npm install --global scorel@latest`",
		"brew":      "run `brew upgrade scorel`",
		"container": "start the container again with a new image",
	}[manager]
	if !known {
		how = "update it there"
	}
	return sayf(errors.Join(errRefused, updater.ErrManaged), "scorel was installed with %s and is updated with it: %s", printable(manager), how)
}

// updateError says that nothing was changed, and maps to the exit code.
func updateError(err error) error {
	cause := err
	switch {
	case errors.Is(err, updater.ErrForged), errors.Is(err, updater.ErrWrongFile), errors.Is(err, updater.ErrUnsafe):
		cause = errors.Join(errRefused, err)
	case errors.Is(err, updater.ErrUnreachable):
		cause = errors.Join(errUnreachable, err)
	}
	return sayf(cause, "nothing was changed: %s", err)
}

// hostVersion returns the version of the host that runs on this machine, or "".
func hostVersion(env *environment) string {
	home, err := env.home()
	if err != nil {
		return ""
	}
	state, err := host.ReadState(home)
	if err != nil {
		return ""
	}
	return state.Version
}

// howToRestart says how a host comes to execute the program that is on the disk now.
func howToRestart(env *environment) string {
	if runtime.GOOS == "windows" {
		return "`scorel host stop` ends it; start it as before then"
	}
	words := []string{"scorel", "host", "restart"}
	if env.homeFlag != "" {
		words = append(words, "--home", env.homeFlag)
	}
	return "`" + commandLine(words...) + "` has it use the other version"
}

func (u *updating) print(r updateResult) error {
	if u.flags.asJSON {
		return printJSON(u.stdout, r)
	}
	var text string
	switch {
	case u.flags.rollback:
		text = fmt.Sprintf("%s is the program before the last update again; this one is kept as %s", r.Path, filepath.Base(r.Path)+updater.OldSuffix)
	case r.Updated:
		text = fmt.Sprintf("scorel was updated from %s to %s; `scorel update --rollback` undoes this", r.Version, r.Newest)
	case r.Available:
		text = fmt.Sprintf("scorel %s is available, this is %s: install it with `scorel update`", r.Newest, r.Version)
	case r.Newest == r.Version:
		text = fmt.Sprintf("scorel %s is the newest release", r.Version)
	default:
		text = fmt.Sprintf("this is scorel %s, and the newest release is %s", r.Version, r.Newest)
	}
	switch {
	case r.Restarted:
		text += fmt.Sprintf("\nthe host on this machine was restarted and runs %s", printable(r.Host))
	case r.Host != "" && (r.Updated || r.Host != r.Version):
		text += fmt.Sprintf("\nthe host on this machine still runs %s: %s", printable(r.Host), howToRestart(u.env))
	}
	_, err := fmt.Fprintln(u.stdout, text)
	return err
}
