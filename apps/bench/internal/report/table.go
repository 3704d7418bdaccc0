package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

func heading(m Metric) string {
	headings := map[Metric]string{
		EchoesPerSecond: "echoes/s", RelayCPU: "relay CPU us/record", LoadCPU: "load CPU us/echo",
		P50: "p50 us", P99: "p99 us", IdleMemory: "KiB/connection",
		BackAfter: "all back after s", PeakCPU: "peak relay CPU, cores", StormCPU: "relay CPU ms/login", FailedDials: "failed dials/host",
		Open: "open ms", Context: "context ms", OpenAndContext: "open and context ms", OpenCPU: "their CPU ms", AppendCPU: "CPU us/append", PeakMemory: "peak memory MiB", Append: "us/append",
		RawSyncs: "raw syncs/s", DurableAppends: "durable appends/s", TimesRaw: "appends/raw sync", DurableP99: "p99 ms", Took: "ms",
	}
	return headings[m]
}

func number(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// rows returns the lines of a section with its heading first.
func (r *Report) rows(s Section) [][]string {
	head := []string{cmp.Or(s.Column, "relay")}
	for _, m := range s.Metrics {
		head = append(head, heading(m))
	}
	rows := [][]string{head}
	for _, result := range r.Results {
		if result.Scenario != s.Name {
			continue
		}
		row := []string{result.Relay}
		for _, m := range s.Metrics {
			cell := "-"
			if v, ok := result.Median[m]; ok {
				cell = number(v)
			}
			row = append(row, cell)
		}
		if n := len(result.Failures); n > 0 {
			row[0] += fmt.Sprintf(" (%d failed)", n)
		}
		rows = append(rows, row)
	}
	return rows
}

func (r *Report) verdictRows() [][]string {
	rows := [][]string{{"target", "ours", "limit", "ours/limit", "met"}}
	for _, v := range r.Verdicts {
		met := "no"
		if v.Met {
			met = "yes"
		}
		rows = append(rows, []string{v.Target, number(v.Ours), number(v.Limit), fmt.Sprintf("%.2f", v.Ratio), met})
	}
	return rows
}

// WriteTable writes for people.
func (r *Report) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, s := range r.Sections {
		fmt.Fprintf(t, "\n%s: %s\n", s.Name, s.Title)
		for _, row := range r.rows(s) {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
	}
	if len(r.Verdicts) > 0 {
		fmt.Fprintln(t)
		for _, row := range r.verdictRows() {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
	}
	return t.Flush()
}

// WriteMarkdown writes for docs/benchmarks.md.
func (r *Report) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	m := r.Machine
	fmt.Fprintf(&b, "Run of %s with `%s` on %d CPUs (%s/%s, kernel %s, %.0f GiB), %s, load average at the start %s.\n",
		r.At.Format("2006-01-02"), r.Command, m.CPUs, m.OS, m.Arch, m.Kernel, float64(m.Memory)/(1<<30), m.Go, m.Load)
	for _, s := range r.Sections {
		fmt.Fprintf(&b, "\n**%s**: %s\n\n", s.Name, s.Title)
		markdownTable(&b, r.rows(s))
	}
	if len(r.Verdicts) > 0 {
		b.WriteString("\n**Targets**\n\n")
		markdownTable(&b, r.verdictRows())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownTable(b *strings.Builder, rows [][]string) {
	for i, row := range rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(b, "|---%s|\n", strings.Repeat("|---:", len(row)-1))
		}
	}
}
