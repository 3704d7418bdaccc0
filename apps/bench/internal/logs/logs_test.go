package logs

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// Everything of ours can be measured; with little work the figures say nothing.
func TestOurLogCanBeMeasured(t *testing.T) {
	got, err := Run(context.Background(), Plan{
		Entries: []int{10, 200}, Appends: 5, Sessions: 2, Rounds: 2, Span: 20 * time.Millisecond,
		Host: "../../../host", Dir: t.TempDir(), Progress: &bytes.Buffer{},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range got.Results {
		if len(result.Rounds) != 2 || len(result.Median) == 0 {
			t.Errorf("%s, %s: %d rounds, median %v", result.Scenario, result.Relay, len(result.Rounds), result.Median)
		}
		for metric, value := range result.Median {
			if value <= 0 && !strings.Contains(string(metric), "cpu") {
				t.Errorf("%s, %s: %s is %v", result.Scenario, result.Relay, metric, value)
			}
		}
	}
	if len(got.Results) != 5 || len(got.Verdicts) != 4 {
		t.Errorf("%d results and %d verdicts", len(got.Results), len(got.Verdicts))
	}
}

func TestAFolderWithoutPiIsSaid(t *testing.T) {
	if _, _, err := findPi("node", t.TempDir(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "npm install") {
		t.Errorf("got %v", err)
	}
}

func TestTimesOfTheIndexAreRead(t *testing.T) {
	out := "goos: linux\nBenchmarkSearch/rare-2   \t 100\t  1500000 ns/op\t 20.00 hits\nBenchmarkSearch/two-common\t 1\t 2000 ns/op\nBenchmarkWarm/1000-16 7 31.5 ns/op\nBenchmarkBuild-2 1 9 ns/op\nPASS\n"
	var got []string
	for row, took := range indexTimes([]byte(out)) {
		got = append(got, row+" "+took.String())
	}
	if want := []string{"search, rare 1.5ms", "search, two-common 2µs", "warm opening, 1000 31ns"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
