package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/run"
	"github.com/scorel/scorel/apps/bench/internal/serve"
)

type relaysFlags struct {
	scenarios, relays string
	connections       int
	json, markdown    string
	plan              run.Plan
}

func runRelays(ctx context.Context, args []string) error {
	f, err := parseRelays(args)
	if err != nil {
		return err
	}
	if f.plan.Profiles != "" {
		if err := os.MkdirAll(f.plan.Profiles, 0o755); err != nil {
			return fmt.Errorf("making the folder for the profiles: %w", err)
		}
		stop, err := serve.Profile(filepath.Join(f.plan.Profiles, "load.pprof"))
		if err != nil {
			return err
		}
		defer stop()
	}
	got, err := run.Run(ctx, f.plan)
	if err != nil {
		return err
	}
	got.Command = strings.Join(append([]string{"bench", "relays"}, withoutFiles(args)...), " ")
	if err := got.WriteTable(os.Stdout); err != nil {
		return err
	}
	return errors.Join(writeTo(f.json, got.WriteJSON), writeTo(f.markdown, got.WriteMarkdown))
}

func parseRelays(args []string) (*relaysFlags, error) {
	flags := flag.NewFlagSet("bench relays", flag.ContinueOnError)
	f := &relaysFlags{plan: run.Plan{Progress: os.Stderr}}
	flags.StringVar(&f.scenarios, "scenario", "", "comma-separated: "+names(run.Scenarios(0), scenarioName)+"; empty is all")
	flags.StringVar(&f.relays, "relay", "", "comma-separated: "+names(run.Relays(), relayName)+"; empty is all")
	flags.IntVar(&f.connections, "connections", 2000, "connections of the idle scenario and of the storm")
	flags.IntVar(&f.plan.Rounds, "rounds", 3, "measurements of each, of which the median counts")
	flags.DurationVar(&f.plan.Warmup, "warmup", 500*time.Millisecond, "time before each measurement")
	flags.DurationVar(&f.plan.Measure, "measure", 3*time.Second, "time of each measurement")
	flags.StringVar(&f.json, "json", "", "write the report as JSON into this file")
	flags.StringVar(&f.markdown, "markdown", "", "write the tables as Markdown into this file")
	flags.StringVar(&f.plan.Profiles, "profiles", "", "write CPU profiles of the relays and of the load into this folder; the last round's are kept")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	if f.connections < 1 || f.plan.Rounds < 1 || f.plan.Measure <= 0 || f.plan.Warmup < 0 {
		return nil, errors.New("-connections, -rounds and -measure must be above 0")
	}
	var err error
	if f.plan.Scenarios, err = pick(f.scenarios, run.Scenarios(f.connections), scenarioName); err != nil {
		return nil, err
	}
	f.plan.Relays, err = pick(f.relays, run.Relays(), relayName)
	return f, err
}

func scenarioName(s run.Scenario) string { return s.Name }
func relayName(r run.Relay) string       { return r.Name }

func names[T any](all []T, name func(T) string) string {
	var out []string
	for _, each := range all {
		out = append(out, name(each))
	}
	return strings.Join(out, ",")
}

// pick returns those of all that a list names, in the order of all.
func pick[T any](list string, all []T, name func(T) string) ([]T, error) {
	if list == "" {
		return all, nil
	}
	wanted := strings.Split(list, ",")
	for _, each := range wanted {
		if !slices.ContainsFunc(all, func(t T) bool { return name(t) == each }) {
			return nil, fmt.Errorf("there is no %q; choose from %s", each, names(all, name))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !slices.Contains(wanted, name(t)) }), nil
}

// withoutFiles drops where things are and where the report is written, which does not matter to readers.
func withoutFiles(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		name, _, joined := strings.Cut(strings.TrimLeft(args[i], "-"), "=")
		if !slices.Contains([]string{"json", "markdown", "profiles", "pi", "node", "host", "dir"}, name) {
			out = append(out, args[i])
		} else if !joined {
			i++ // its value
		}
	}
	return out
}

func writeTo(file string, write func(io.Writer) error) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
