package run

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/report"
	"github.com/scorel/scorel/apps/bench/internal/serve"
)

// Plan says what to measure.
type Plan struct {
	Scenarios []Scenario
	Relays    []Relay
	Rounds    int
	Warmup    time.Duration
	Measure   time.Duration
	Progress  io.Writer // a line for each measurement
	Profiles  string    // folder for CPU profiles of the relays; "" writes none
}

// patience bounds one measurement, besides its own time.
const patience = 2 * time.Minute

// Run measures. A measurement that fails is recorded, and the rest continues.
func Run(ctx context.Context, p Plan) (*report.Report, error) {
	out := &report.Report{At: time.Now(), Machine: report.ThisMachine()}
	for _, s := range p.Scenarios {
		out.Sections = append(out.Sections, s.Section())
		results, err := p.scenario(ctx, s)
		if err != nil {
			return nil, err
		}
		out.Results = append(out.Results, results...)
	}
	out.Judge(Targets())
	return out, nil
}

// scenario goes through the relays in each round.
func (p Plan) scenario(ctx context.Context, s Scenario) ([]report.Result, error) {
	var results []report.Result
	for _, r := range p.Relays {
		if !slices.Contains(s.without, r.Name) {
			results = append(results, report.Result{Scenario: s.Name, Relay: r.Name})
		}
	}
	rounds := p.Rounds
	if s.rounds > 0 {
		rounds = min(rounds, s.rounds)
	}
	for round := range rounds {
		for i := range results {
			r := p.Relays[slices.IndexFunc(p.Relays, func(r Relay) bool { return r.Name == results[i].Relay })]
			figures, err := p.measure(ctx, r, s)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err != nil {
				fmt.Fprintf(p.Progress, "%s %d/%d %s failed: %v\n", s.Name, round+1, rounds, r.Name, err)
				results[i].Failures = append(results[i].Failures, err.Error())
				continue
			}
			results[i].Rounds = append(results[i].Rounds, figures)
			fmt.Fprintf(p.Progress, "%s %d/%d %s %v\n", s.Name, round+1, rounds, r.Name, figures)
		}
	}
	for i := range results {
		results[i].Summarize()
	}
	return results, nil
}

func (p Plan) measure(ctx context.Context, r Relay, s Scenario) (_ report.Figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, p.Warmup+p.Measure+patience)
	defer cancel()
	profile := ""
	if p.Profiles != "" {
		profile = filepath.Join(p.Profiles, s.Name+"-"+r.Name)
	}
	defer serve.HoldTo(r.CPUs)()
	d, err := deploy(ctx, r, s, profile)
	if err != nil {
		return nil, err
	}
	defer func() {
		if stopped := d.stop(); err == nil {
			err = stopped
		}
	}()
	switch s.kind {
	case idle:
		return measureIdle(ctx, d, s)
	case storm:
		return measureStorm(ctx, d, s)
	default:
		return measureEcho(ctx, d, s, p.Warmup, p.Measure)
	}
}
