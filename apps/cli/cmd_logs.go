package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/logfile"
	"github.com/scorel/scorel/apps/cli/internal/service"
)

// relayLogName is the log of a relay that runs as a user service, in the home.
const relayLogName = "relay.log"

// logsEvery is the interval at which a log is read while it is followed.
const logsEvery = 300 * time.Millisecond

type logsFlags struct {
	follow, system, asJSON bool
	lines                  int
	session, file          string
}

func newLogs(a *app) *cobra.Command {
	var f logsFlags
	cmd := &cobra.Command{
		Use:   "logs [host|relay]",
		Short: "Show the log of the host or relay on this machine",
		Long: `Show the log of the host on this machine, or of a relay: of a service, of a host that
"scorel chat" started, and of a server that was started with --log-file. A server that was
started in a terminal without that flag logs there.

A log holds no prompts, answers, codes, keys or tokens. It is kept below 4 MiB, and the
4 MiB before are kept too.`,
		Example: `  scorel logs
  scorel logs -f --session SESSION
  scorel logs relay --system --lines 0
  scorel logs --json`,
		Args: argCount(0, 1, "host or relay"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path, err := logPath(cmd.Context(), a.env, f, args)
			if err != nil {
				return err
			}
			return showLog(cmd.Context(), a.console, path, f)
		},
	}
	cmd.Flags().BoolVarP(&f.follow, "follow", "f", false, "continue with new lines until interrupted")
	cmd.Flags().IntVarP(&f.lines, "lines", "n", 200, "number of lines; 0 prints all")
	cmd.Flags().StringVar(&f.session, "session", "", "only lines about this session")
	cmd.Flags().BoolVar(&f.system, "system", false, "log of the system service")
	cmd.Flags().StringVar(&f.file, "file", "", "log file to read instead")
	addJSON(cmd, &f.asJSON)
	return cmd
}

// logPath returns the log that a person named.
func logPath(ctx context.Context, env *environment, f logsFlags, args []string) (string, error) {
	role, err := serviceRole(args)
	switch {
	case err != nil:
		return "", err
	case f.lines < 0:
		return "", usagef("--lines %d is not possible: give 0 for all lines, or a number", f.lines)
	case f.file != "" && (f.system || len(args) > 0):
		return "", usagef("--file names one log: give it without --system and without %s", role)
	case f.file != "":
		if _, err := os.Stat(f.file); errors.Is(err, fs.ErrNotExist) {
			return "", usagef("there is no file %s: give the path of a log", printable(f.file))
		}
		return f.file, nil
	}
	id := service.ID{Role: role, System: f.system}
	var status service.Status
	if manager, err := service.Find(true); f.system && err == nil {
		status, _ = manager.Status(ctx, id) // without it, the log is in the home of this command
	}
	return logOfService(env, status, id)
}

// logOfService returns the log of a service that may be installed. A system service keeps it in the home
// that it runs in, which is not that of root, who asks.
func logOfService(env *environment, status service.Status, id service.ID) (string, error) {
	_, _, own := service.SystemRelay()
	if id.System && filepath.IsAbs(status.Folder) && !(own && id.Role == service.Relay) {
		return filepath.Join(status.Folder, logName(id.Role)), nil
	}
	return logOf(env, id.Role, id.System)
}

// logOf returns the log that a service gets.
func logOf(env *environment, role service.Role, system bool) (string, error) {
	if _, log, ok := service.SystemRelay(); ok && system && role == service.Relay {
		return log, nil
	}
	home, err := env.home()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, logName(role)), nil
}

func logName(role service.Role) string {
	if role == service.Relay {
		return relayLogName
	}
	return hostLogName
}

func showLog(ctx context.Context, con console, path string, f logsFlags) error {
	reader := logfile.NewReader(path)
	lines, err := selectedLines(reader, f)
	if err != nil {
		return err
	}
	if len(lines) == 0 && !f.follow && !f.asJSON {
		fmt.Fprintln(con.stderr, "scorel: "+nothingIn(path, f.session))
	}
	if f.lines > 0 && len(lines) > f.lines {
		lines = lines[len(lines)-f.lines:]
	}
	for {
		for _, line := range lines {
			if err := printLogLine(con.stdout, line, f.asJSON); err != nil {
				return err
			}
		}
		if !f.follow {
			return nil
		}
		select {
		case <-time.After(logsEvery):
		case <-ctx.Done():
			return nil
		}
		if lines, err = selectedLines(reader, f); err != nil {
			return err
		}
	}
}

// nothingIn says why there are no lines.
func nothingIn(path, session string) string {
	if info, err := os.Stat(path); err == nil && info.Size() > 0 && session != "" {
		return fmt.Sprintf("%s has no line about the session %s: `scorel session list` lists the sessions", printable(path), printable(session))
	}
	return fmt.Sprintf("there is nothing in %s: a service logs there, and a server that was started with --log-file", printable(path))
}

// selectedLines returns the new lines that a person asked for.
func selectedLines(reader *logfile.Reader, f logsFlags) ([]logfile.Line, error) {
	texts, err := reader.Next()
	if err != nil {
		err = sayf(err, "the log cannot be read (%v): read it as the user that the service runs as, or as root", reason(err))
	}
	var lines []logfile.Line
	for _, text := range texts {
		if line := logfile.Parse(text); f.session == "" || line.Session() == f.session {
			lines = append(lines, line)
		}
	}
	return lines, err
}

func printLogLine(stdout io.Writer, line logfile.Line, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(stdout, printable(line.String()))
		return err
	}
	return printJSON(stdout, struct {
		Time    string            `json:"time,omitempty"`
		Level   string            `json:"level,omitempty"`
		Message string            `json:"message"`
		Fields  map[string]string `json:"fields,omitempty"`
	}{line.Time, line.Level, line.Message, line.Fields})
}
