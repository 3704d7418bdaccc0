package main

import (
	"context"
	"errors"
	"flag"
	"os"

	"github.com/scorel/scorel/apps/bench/internal/serve"
)

func runServe(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("bench serve", flag.ContinueOnError)
	var opts serve.Options
	flags.StringVar(&opts.Listen, "listen", "127.0.0.1:0", "address")
	flags.StringVar(&opts.Store, "store", "", "scorel: file of the store")
	flags.StringVar(&opts.Bus, "bus", "", "scorel: NATS servers")
	flags.IntVar(&opts.Queue, "queue", 0, "derp: packets that may wait for one connection")
	flags.IntVar(&opts.CPUs, "cpus", 0, "CPUs that may run Go code at once; 0 is all of the machine's")
	flags.StringVar(&opts.Profile, "profile", "", "write a CPU profile into this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 {
		return errors.New("name the kind of relay to serve")
	}
	// An interrupt is for the process that measures; this one ends with its input.
	return serve.Run(context.WithoutCancel(ctx), flags.Arg(0), opts, os.Stdin, os.Stdout)
}
