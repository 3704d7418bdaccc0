package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// progressWidth is how many characters of an operation fit on one line, without querying
// the terminal's size.
const progressWidth = 76

// progress shows operations: on a terminal as one line that is overwritten, otherwise as a
// line for each new step.
type progress struct {
	w       io.Writer
	steered bool              // w is a terminal
	open    bool              // the line is shown
	shown   map[string]string // operation -> its last step; without a terminal
}

func newProgress(w io.Writer, steered bool) *progress {
	return &progress{w: w, steered: steered, shown: map[string]string{}}
}

// show displays the newest state of an operation. The final state stays visible.
func (p *progress) show(process api.Process) {
	last := process.Last
	text := "  " + stepText(last)
	switch {
	case last.Status.Ended():
		p.clear()
		delete(p.shown, last.OperationID)
		fmt.Fprintln(p.w, text)
	case p.steered:
		p.clear()
		p.open = true
		fmt.Fprint(p.w, clip(text, progressWidth))
	default:
		step := last.Stage + "\n" + last.Message
		if p.shown[last.OperationID] != step {
			p.shown[last.OperationID] = step
			fmt.Fprintln(p.w, text)
		}
	}
}

// clear removes the line before something else is printed.
func (p *progress) clear() {
	if p.open {
		p.open = false
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// stepText describes the state of an operation on one line.
func stepText(line session.ProcessLine) string {
	text := printable(line.Source) + ":"
	if line.Status != session.ProcessRunning {
		text += " " + printable(string(line.Status)) + ","
	}
	text = strings.TrimSuffix(text+" "+cmp.Or(printable(line.Message), printable(line.Stage)), ", ")
	if far := farText(line); far != "" {
		text += " (" + far + ")"
	}
	if line.Repeats > 1 {
		text += fmt.Sprintf(" x%d", line.Repeats)
	}
	return text
}

// farText describes how far an operation is, as far as it reports that itself.
func farText(line session.ProcessLine) string {
	switch {
	case line.Current != nil && line.Total != nil:
		return fmt.Sprintf("%.6g/%.6g", *line.Current, *line.Total)
	case line.Percent != nil:
		return fmt.Sprintf("%.0f %%", *line.Percent)
	case line.Current != nil:
		return fmt.Sprintf("%.6g", *line.Current)
	}
	return ""
}

// writeProcess writes the record of an operation to a transcript: how it ended, and what
// went wrong.
func writeProcess(b *strings.Builder, record session.ProcessRecord) {
	for i, line := range record.Lines {
		if i == len(record.Lines)-1 || line.Level == session.ProcessError || line.Level == session.ProcessWarn {
			fmt.Fprintf(b, "  ~ %s\n", stepText(line))
		}
	}
}
