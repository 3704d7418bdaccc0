package report

import (
	"testing"
)

func TestJudgeComparesMediansInBothDirections(t *testing.T) {
	result := func(relay string, values ...float64) Result {
		r := Result{Scenario: "s", Relay: relay}
		for _, v := range values {
			r.Rounds = append(r.Rounds, Figures{EchoesPerSecond: v, P50: v})
		}
		r.Summarize()
		return r
	}
	r := Report{Results: []Result{result("ours", 90, 1, 100), result("peer", 80, 82)}}
	r.Judge([]Target{
		{Scenario: "s", Relay: "ours", Metric: EchoesPerSecond, Against: "peer", AtLeast: true, Factor: 1.2},
		{Scenario: "s", Relay: "ours", Metric: P50, Against: "peer", Factor: 1.2},
		{Scenario: "s", Relay: "ours", Metric: P50, Factor: 89},
		{Scenario: "s", Relay: "ours", Metric: P50, Against: "nobody", Factor: 1},
		{Scenario: "t", Relay: "ours", Metric: P50, Factor: 1},
	})
	want := []Verdict{{Ours: 90, Limit: 97.2, Met: false}, {Ours: 90, Limit: 97.2, Met: true}, {Ours: 90, Limit: 89, Met: false}}
	if len(r.Verdicts) != len(want) {
		t.Fatalf("%d verdicts, want %d: targets without figures are left out", len(r.Verdicts), len(want))
	}
	for i, v := range r.Verdicts {
		if v.Met != want[i].Met || v.Ours != want[i].Ours || v.Limit-want[i].Limit > 1e-6 || want[i].Limit-v.Limit > 1e-6 {
			t.Errorf("verdict %d is %+v, want %+v", i, v, want[i])
		}
	}
}
