package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/logs"
)

type logsFlags struct {
	entries        string
	json, markdown string
	plan           logs.Plan
}

func runLogs(ctx context.Context, args []string) error {
	f, err := parseLogs(args)
	if err != nil {
		return err
	}
	got, err := logs.Run(ctx, f.plan)
	if err != nil {
		return err
	}
	got.Command = strings.Join(append([]string{"bench", "logs"}, withoutFiles(args)...), " ")
	if err := got.WriteTable(os.Stdout); err != nil {
		return err
	}
	return errors.Join(writeTo(f.json, got.WriteJSON), writeTo(f.markdown, got.WriteMarkdown))
}

func parseLogs(args []string) (*logsFlags, error) {
	flags := flag.NewFlagSet("bench logs", flag.ContinueOnError)
	f := &logsFlags{plan: logs.Plan{Progress: os.Stderr}}
	flags.StringVar(&f.entries, "entries", "1000,10000,100000", "comma-separated: lengths of the sessions")
	flags.IntVar(&f.plan.Appends, "appends", 20_000, "entries to append without a sync to each of them")
	flags.IntVar(&f.plan.Sessions, "sessions", 64, "sessions that append durably side by side")
	flags.IntVar(&f.plan.Rounds, "rounds", 3, "measurements of each, of which the median counts")
	flags.DurationVar(&f.plan.Span, "measure", 3*time.Second, "time of each measurement of durable appends")
	flags.StringVar(&f.plan.Host, "host", "apps/host", "folder of the host's source")
	flags.StringVar(&f.plan.Pi, "pi", "", "folder of Pi's package; without it Pi is left out. "+logs.HowToInstall)
	flags.StringVar(&f.plan.Node, "node", "node", "the node that runs Pi")
	flags.BoolVar(&f.plan.Index, "index", false, "measure the search and the warm opening of the index too; it takes minutes")
	flags.StringVar(&f.plan.Dir, "dir", "", "folder on the disk to measure; empty is the system's for temporary files")
	flags.StringVar(&f.json, "json", "", "write the report as JSON into this file")
	flags.StringVar(&f.markdown, "markdown", "", "write the tables as Markdown into this file")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	if f.plan.Rounds < 1 || f.plan.Appends < 1 || f.plan.Sessions < 1 || f.plan.Span <= 0 {
		return nil, errors.New("-rounds, -appends, -sessions and -measure must be above 0")
	}
	for each := range strings.SplitSeq(f.entries, ",") {
		n, err := strconv.Atoi(each)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-entries: %q is not a number above 0", each)
		}
		f.plan.Entries = append(f.plan.Entries, n)
	}
	return f, nil
}
