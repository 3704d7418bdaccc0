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
	text = strings.ToValidUTF8(text, "\uFFFD") // a lone byte is a control character to some terminals
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

// listing is how a list command prints what it found.
type listing[T any] struct {
	none   string // said where there is nothing; "" prints the header alone
	header []string
	row    func(i int, element T) []string
}

// printList is the end of a list command: JSON, one element a line, or a table for
// people, who are told where there is nothing.
func printList[T any](a *app, asJSON bool, list []T, how listing[T]) error {
	if asJSON {
		return printEach(a.stdout, list)
	}
	if len(list) == 0 && how.none != "" {
		_, err := fmt.Fprintln(a.stdout, how.none)
		return err
	}
	rows := make([][]string, 0, len(list))
	for i, element := range list {
		rows = append(rows, how.row(i, element))
	}
	return printTable(a.stdout, how.header, rows)
}

// sayNotes tells people beside a list what was left out of it or is odd.
func (a *app) sayNotes(notes []string) {
	for _, note := range notes {
		fmt.Fprintln(a.stderr, "scorel: "+printable(note))
	}
}
