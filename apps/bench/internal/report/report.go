// Package report holds what a run measured and prints it: as a table for people, as
// Markdown for the docs, as JSON for programs. It writes no figure that was not
// measured.
package report

import (
	"encoding/json"
	"io"
	"slices"
	"time"
)

// Metric names one figure. The unit is part of the name.
type Metric string

// The metrics.
const (
	EchoesPerSecond Metric = "echoes_per_second"
	RelayCPU        Metric = "relay_cpu_us_per_record" // an echo is two records through the relay
	LoadCPU         Metric = "load_cpu_us_per_echo"
	P50             Metric = "p50_us"
	P99             Metric = "p99_us"
	IdleMemory      Metric = "rss_kib_per_connection"
	BackAfter       Metric = "all_back_after_s"
	PeakCPU         Metric = "peak_relay_cores"
	StormCPU        Metric = "relay_cpu_ms_per_login"
	FailedDials     Metric = "failed_dials_per_host"

	Open           Metric = "open_ms"
	Context        Metric = "context_ms"
	OpenAndContext Metric = "open_and_context_ms"
	OpenCPU        Metric = "open_and_context_cpu_ms"
	AppendCPU      Metric = "append_cpu_us"
	PeakMemory     Metric = "peak_rss_mib"
	Append         Metric = "append_us"
	RawSyncs       Metric = "raw_syncs_per_second"
	DurableAppends Metric = "durable_appends_per_second"
	TimesRaw       Metric = "times_raw"
	Took           Metric = "took_ms"
	DurableP99     Metric = "durable_p99_ms"
)

// Figures are those of one measurement.
type Figures map[Metric]float64

// Result is what one relay, or one way to keep logs, did in one scenario.
type Result struct {
	Scenario string    `json:"scenario"`
	Relay    string    `json:"relay"`
	Median   Figures   `json:"median"`
	Rounds   []Figures `json:"rounds"`
	Failures []string  `json:"failures,omitempty"` // measurements that came to nothing
}

// Section is a scenario as it is shown.
type Section struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	Column  string   `json:"column,omitempty"` // heading of what is compared; "" is relay
	Metrics []Metric `json:"metrics"`
}

// Verdict is a target and whether it is met.
type Verdict struct {
	Target string  `json:"target"`
	Ours   float64 `json:"ours"`
	Limit  float64 `json:"limit"`
	Ratio  float64 `json:"ratio"` // ours divided by the limit
	Met    bool    `json:"met"`
}

// Machine is where a run took place, in general terms.
type Machine struct {
	CPUs   int    `json:"cpus"`
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
	Memory int64  `json:"memory_bytes"`
	// Load is the load average of a minute at the start: what else ran.
	Load string `json:"load_average_at_start"`
}

// Report is a whole run.
type Report struct {
	At       time.Time `json:"at"`
	Command  string    `json:"command"`
	Machine  Machine   `json:"machine"`
	Sections []Section `json:"sections"`
	Results  []Result  `json:"results"`
	Verdicts []Verdict `json:"verdicts"`
}

// Summarize sets the median of each figure over the rounds.
func (r *Result) Summarize() {
	r.Median = Figures{}
	all := map[Metric][]float64{}
	for _, round := range r.Rounds {
		for metric, value := range round {
			all[metric] = append(all[metric], value)
		}
	}
	for metric, values := range all {
		r.Median[metric] = median(values)
	}
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// Figure returns a median figure.
func (r *Report) Figure(scenario, relay string, metric Metric) (float64, bool) {
	for _, result := range r.Results {
		if result.Scenario == scenario && result.Relay == relay {
			value, ok := result.Median[metric]
			return value, ok
		}
	}
	return 0, false
}

// WriteJSON writes the whole report.
func (r *Report) WriteJSON(w io.Writer) error {
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(r)
}
