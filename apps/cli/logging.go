package cli

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/logfile"
	"github.com/scorel/scorel/apps/host"
)

// logFlags configure how a serving command logs to standard error.
type logFlags struct {
	level, format, file string
	out                 *logfile.Writer // nil without a file
}

func addLogFlags(cmd *cobra.Command, level string) *logFlags {
	f := &logFlags{}
	cmd.Flags().StringVar(&f.level, "log-level", level, "debug, info, warn or error")
	cmd.Flags().StringVar(&f.format, "log-format", "text", "text or json")
	cmd.Flags().StringVar(&f.file, "log-file", "", "write the log to this `file` instead of standard error; \"scorel logs\" shows it. It is kept below 4 MiB, and the 4 MiB before are in a second file")
	return f
}

// open opens the file to log to, if there is one. It stays open to the end of the process.
func (f *logFlags) open() (err error) {
	if f.file == "" {
		return nil
	}
	if err = os.MkdirAll(filepath.Dir(f.file), 0o700); err == nil {
		f.out, err = logfile.Open(f.file, logfile.Limit)
	}
	if err != nil {
		return sayf(err, "the log %s cannot be written (%v): choose another with --log-file", printable(f.file), reason(err))
	}
	return f.out.CatchCrashes()
}

// own has the log keep its size: this process is the only server that writes to it.
func (f *logFlags) own() {
	if f.out != nil {
		f.out.Own()
	}
}

// note writes to the log, too, why a server ended.
func (f *logFlags) note(err error) error {
	if f.out != nil && err != nil && !errors.Is(err, host.ErrRestart) {
		slog.New(slog.NewTextHandler(f.out, nil)).Error("ended", "error", sentence(err))
	}
	return err
}

// newLogger logs to the file of the flags or to standard error, separate from the command's output.
func newLogger(stderr io.Writer, f *logFlags) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, usagef("%q is not a log level: use debug, info, warn or error", f.level)
	}
	options := &slog.HandlerOptions{Level: level}
	out := stderr
	if f.out != nil {
		out = f.out
	}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(out, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	}
	return nil, usagef("%q is not a log format: use text or json", f.format)
}
