package cli

import (
	"log/slog"

	"github.com/spf13/cobra"
)

// logFlags configure how a serving command logs to standard error.
type logFlags struct{ level, format string }

func addLogFlags(cmd *cobra.Command, level string) *logFlags {
	f := &logFlags{}
	cmd.Flags().StringVar(&f.level, "log-level", level, "debug, info, warn or error")
	cmd.Flags().StringVar(&f.format, "log-format", "text", "text or json")
	return f
}

// logger logs to standard error, separate from the command's output.
func (a *app) logger(f *logFlags) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, usagef("%q is not a log level: use debug, info, warn or error", f.level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(a.stderr, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(a.stderr, options)), nil
	}
	return nil, usagef("%q is not a log format: use text or json", f.format)
}
