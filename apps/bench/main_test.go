package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/bench/internal/report"
	"github.com/scorel/scorel/apps/bench/internal/run"
)

// TestMain lets the test binary be the relay's process, as the program itself is.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Every relay goes through every scenario that is meant for it, with few connections
// and little time: what is measured here says nothing but that it can be.
func TestEveryRelayCanBeMeasured(t *testing.T) {
	var progress bytes.Buffer
	got, err := run.Run(context.Background(), run.Plan{
		Scenarios: run.Scenarios(20), Relays: run.Relays(), Rounds: 1,
		Warmup: 10 * time.Millisecond, Measure: 50 * time.Millisecond, Progress: &progress,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range got.Results {
		section := got.Sections[slices.IndexFunc(got.Sections, func(s report.Section) bool { return s.Name == result.Scenario })]
		for _, metric := range section.Metrics {
			if _, measured := result.Median[metric]; !measured {
				t.Errorf("%s, %s: no %s (%v)", result.Scenario, result.Relay, metric, result.Failures)
			}
		}
	}
	if len(got.Verdicts) != len(run.Targets()) {
		t.Errorf("%d targets judged, want %d", len(got.Verdicts), len(run.Targets()))
	}
	var markdown strings.Builder
	if err := got.WriteMarkdown(&markdown); err != nil || strings.Count(markdown.String(), "| scorel |") != len(got.Sections) {
		t.Errorf("%v; the tables are\n%s", err, markdown.String())
	}
}

func TestFlagsAreChecked(t *testing.T) {
	for _, args := range [][]string{
		{"-scenario", "nothing"}, {"-relay", "scorel,nobody"}, {"-rounds", "0"}, {"-measure", "-1s"}, {"-connections", "0"}, {"left over"},
	} {
		if _, err := parseRelays(args); err == nil {
			t.Errorf("%q was accepted", args)
		}
	}
	f, err := parseRelays([]string{"-scenario", "large,small", "-relay", "nats", "-json", filepath.Join(t.TempDir(), "x")})
	if err != nil || len(f.plan.Scenarios) != 2 || f.plan.Scenarios[0].Name != "small" || len(f.plan.Relays) != 1 {
		t.Errorf("got %+v, %v", f, err)
	}
	got := withoutFiles([]string{"-rounds", "2", "--json", "a", "-markdown=b", "-profiles", "c", "-measure=1s"})
	if !slices.Equal(got, []string{"-rounds", "2", "-measure=1s"}) {
		t.Errorf("the command is shown as %q", got)
	}
}
