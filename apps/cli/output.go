package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/session"
)

// printJSON writes v as one line.
func printJSON(w io.Writer, v any) error {
	line, err := session.Encode(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// printTable writes rows under a header, in columns. What comes from elsewhere
// cannot steer the terminal.
func printTable(w io.Writer, header []string, rows [][]string) error {
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(tw, strings.Join(header, "\t"))
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
		}
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	return tw.Flush()
}

// printable shows control characters instead of obeying them: a name or a
// command from elsewhere must not move the cursor over what a person decides on.
func printable(text string) string {
	if strings.IndexFunc(text, steers) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if steers(r) {
			fmt.Fprintf(&b, "\\x%02x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// printableLines is printable that keeps tabs and line ends.
func printableLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for j := range cells {
			cells[j] = printable(cells[j])
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}

// steers tells whether a terminal may obey r: control characters, and the
// invisible ones that reorder text.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) }

// clip cuts text to n runes and one line.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// formatMillis shows Unix milliseconds in local time.
func formatMillis(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}

// printEach writes each element as one line of JSON.
func printEach[T any](w io.Writer, list []T) error {
	for _, v := range list {
		if err := printJSON(w, v); err != nil {
			return err
		}
	}
	return nil
}
