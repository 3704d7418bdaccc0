package report

import "fmt"

// Target is what one of our figures must hold against that of a peer in the same
// run, or against a fixed limit.
type Target struct {
	Scenario string
	Relay    string
	Metric   Metric
	// Against names the relay to compare with, in AgainstScenario or the same one.
	// Empty means that Factor is the limit itself.
	Against         string
	AgainstScenario string
	AtLeast         bool // else at most
	Factor          float64
}

// String describes the target in words.
func (t Target) String() string {
	word := "at most"
	if t.AtLeast {
		word = "at least"
	}
	if t.Against == "" {
		return fmt.Sprintf("%s, %s: %s %s %g", t.Scenario, t.Relay, heading(t.Metric), word, t.Factor)
	}
	return fmt.Sprintf("%s, %s: %s %s %g x %s", t.Scenario, t.Relay, heading(t.Metric), word, t.Factor, t.Against)
}

// Judge compares. Targets whose figures were not measured in this run are left out.
func (r *Report) Judge(targets []Target) {
	for _, t := range targets {
		ours, ok := r.Figure(t.Scenario, t.Relay, t.Metric)
		limit := t.Factor
		if t.Against != "" {
			scenario := t.Scenario
			if t.AgainstScenario != "" {
				scenario = t.AgainstScenario
			}
			peer, measured := r.Figure(scenario, t.Against, t.Metric)
			ok = ok && measured
			limit *= peer
		}
		if !ok || limit == 0 {
			continue
		}
		met := ours <= limit
		if t.AtLeast {
			met = ours >= limit
		}
		r.Verdicts = append(r.Verdicts, Verdict{Target: t.String(), Ours: ours, Limit: limit, Ratio: ours / limit, Met: met})
	}
}
