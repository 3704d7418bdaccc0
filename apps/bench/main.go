// Command bench measures scorel beside others, on the same work in one run. It is a
// module of its own: what it compares with stays out of the program's build.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

// command is one sub-command.
type command struct {
	name, what string
	run        func(ctx context.Context, args []string) error
}

func commands() []command {
	return []command{
		{"relays", "relays side by side: throughput, CPU, latency, memory, storm", runRelays},
		{"logs", "session logs: opening, memory, appends; beside Pi where it is installed", runLogs},
		{"serve", "one relay in this process; what bench starts for itself", runServe},
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := dispatch(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func dispatch(ctx context.Context, args []string) error {
	if len(args) == 0 {
		usage(os.Stderr)
		return errors.New("which benchmark? Name a command")
	}
	for _, c := range commands() {
		if c.name == args[0] {
			return c.run(ctx, args[1:])
		}
	}
	usage(os.Stderr)
	return fmt.Errorf("there is no command %q", args[0])
}

func usage(w io.Writer) {
	fmt.Fprintln(w, "usage: bench COMMAND [flags]; each command has -h")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-8s %s\n", c.name, c.what)
	}
}
