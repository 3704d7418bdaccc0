// Package logs measures the host's session log: how long it takes to open a session
// and build its context, and how fast entries are appended. It runs Pi over the same
// files where it is installed. Each measurement is made in a process of its own.
package logs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/report"
)

// Plan is what to measure.
type Plan struct {
	Entries  []int // lengths of the sessions
	Appends  int   // without a sync, to each length
	Sessions int   // that append durably side by side
	Rounds   int
	Span     time.Duration // of each measurement of durable appends
	Host     string        // folder of apps/host
	Pi       string        // folder of Pi's package; empty: leave it out
	Node     string        // what runs Pi
	Index    bool          // measure the index of sessions too
	Dir      string        // folder for the sessions, on the disk to measure; empty: the system's for temporary files
	Progress io.Writer
}

// The sections of the report.
const (
	sectionOpen    = "open"
	sectionAppend  = "append"
	sectionDurable = "durable"
	sectionIndex   = "index"
)

type runner struct {
	plan    Plan
	scratch string
	ours    ours
	pi      *pi
	report  *report.Report
}

// Run measures. The rounds go through everything in turn, and the median counts.
func Run(ctx context.Context, plan Plan) (_ *report.Report, err error) {
	scratch, err := os.MkdirTemp(plan.Dir, "bench-logs-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	r := &runner{plan: plan, scratch: scratch, report: &report.Report{At: time.Now().UTC(), Machine: report.ThisMachine()}}
	if r.ours, err = buildOurs(ctx, plan.Host, scratch); err != nil {
		return nil, err
	}
	var version string
	if r.pi, version, err = findPi(plan.Node, plan.Pi, scratch); err != nil {
		return nil, err
	}
	r.report.Sections = r.sections(version)
	for round := range plan.Rounds {
		fmt.Fprintf(plan.Progress, "round %d of %d\n", round+1, plan.Rounds)
		if err := r.round(ctx); err != nil {
			return nil, err
		}
	}
	if plan.Index {
		r.report.Sections = append(r.report.Sections, report.Section{Name: sectionIndex, Column: "what", Metrics: []report.Metric{report.Took},
			Title: "searches over 1000 sessions of 200 messages; opening a warm index, by the length of a session"})
		if err := r.index(ctx); err != nil {
			return nil, err
		}
	}
	for i := range r.report.Results {
		r.report.Results[i].Summarize()
	}
	r.report.Judge(Targets(plan.Entries))
	r.report.Judge(r.indexTargets())
	return r.report, nil
}

// sections are what the report shows, the index left aside.
func (r *runner) sections(version string) []report.Section {
	peer := "Pi " + version
	if r.pi == nil {
		peer = "Pi not installed"
		fmt.Fprintln(r.plan.Progress, "Pi is not compared with. To do so:", HowToInstall)
	}
	return []report.Section{
		{Name: sectionOpen, Column: "log", Title: "a session of entries of 500 bytes is opened and its context built, cold; " + peer,
			Metrics: []report.Metric{report.Open, report.Context, report.OpenAndContext, report.OpenCPU, report.PeakMemory}},
		{Name: sectionAppend, Column: "log", Title: fmt.Sprintf("%d entries are appended one by one, without a sync", r.plan.Appends), Metrics: []report.Metric{report.Append, report.AppendCPU}},
		{Name: sectionDurable, Column: "log", Title: fmt.Sprintf("%d sessions append, each append is synced; before that one file by bare system calls", r.plan.Sessions),
			Metrics: []report.Metric{report.RawSyncs, report.DurableAppends, report.TimesRaw, report.DurableP99}},
	}
}

func (r *runner) round(ctx context.Context) error {
	for _, entries := range r.plan.Entries {
		if err := r.length(ctx, entries); err != nil {
			return err
		}
	}
	folder, err := os.MkdirTemp(r.scratch, "durable-")
	if err != nil {
		return err
	}
	f, err := r.ours.measure(ctx, "durable", folder, strconv.Itoa(r.plan.Sessions), r.plan.Span.String())
	r.add(sectionDurable, "scorel", f)
	return errors.Join(err, os.RemoveAll(folder))
}

// length measures sessions of one length.
func (r *runner) length(ctx context.Context, entries int) error {
	folder, err := os.MkdirTemp(r.scratch, "session-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }() // the whole scratch folder goes at the end
	file, err := writeSession(folder, entries)
	if err != nil {
		return fmt.Errorf("writing a session: %w", err)
	}
	name := rowName("scorel", entries)
	f, err := r.ours.measure(ctx, "open", folder, strconv.Itoa(entries))
	if err != nil {
		return err
	}
	r.add(sectionOpen, name, f)
	if r.pi != nil {
		// It opens the file as it is, before anything is appended to it.
		f, err := r.pi.measure(ctx, file, entries, r.plan.Appends)
		if err != nil {
			return err
		}
		r.add(sectionOpen, rowName("pi", entries), f)
		r.add(sectionAppend, rowName("pi", entries), report.Figures{report.Append: f[report.Append], report.AppendCPU: f[report.AppendCPU]})
		if _, err := writeSession(folder, entries); err != nil {
			return fmt.Errorf("writing a session: %w", err)
		}
	}
	if f, err = r.ours.measure(ctx, "append", folder, strconv.Itoa(r.plan.Appends)); err == nil {
		r.add(sectionAppend, name, f)
	}
	return err
}

func rowName(log string, entries int) string { return fmt.Sprintf("%s, %d", log, entries) }

// add keeps the figures of a round with those of the rounds before.
func (r *runner) add(section, row string, f report.Figures) {
	for i := range r.report.Results {
		if known := &r.report.Results[i]; known.Scenario == section && known.Relay == row {
			known.Rounds = append(known.Rounds, f)
			return
		}
	}
	r.report.Results = append(r.report.Results, report.Result{Scenario: section, Relay: row, Rounds: []report.Figures{f}})
}

// Targets are what the figures must hold.
func Targets(entries []int) []report.Target {
	var all []report.Target
	for _, n := range entries {
		scorel, pi := rowName("scorel", n), rowName("pi", n)
		all = append(all,
			report.Target{Scenario: sectionOpen, Relay: scorel, Metric: report.OpenAndContext, Against: pi, Factor: 0.2},
			report.Target{Scenario: sectionOpen, Relay: scorel, Metric: report.OpenCPU, Against: pi, Factor: 0.2},
			report.Target{Scenario: sectionOpen, Relay: scorel, Metric: report.PeakMemory, Against: pi, Factor: 0.333},
			report.Target{Scenario: sectionAppend, Relay: scorel, Metric: report.Append, Factor: 10},
		)
	}
	return append(all,
		report.Target{Scenario: sectionDurable, Relay: "scorel", Metric: report.TimesRaw, AtLeast: true, Factor: 1},
		report.Target{Scenario: sectionDurable, Relay: "scorel", Metric: report.DurableP99, Factor: 20},
	)
}

// indexTargets are those of every search and opening that was measured.
func (r *runner) indexTargets() []report.Target {
	var all []report.Target
	for _, result := range r.report.Results {
		if result.Scenario == sectionIndex {
			all = append(all, report.Target{Scenario: sectionIndex, Relay: result.Relay, Metric: report.Took, Factor: 50})
		}
	}
	return all
}
