package cli

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
	"github.com/scorel/scorel/packages/protocol/session"
)

// printJSON writes v as one line.
func printJSON(w io.Writer, v any) error {
	line, err := session.Encode(v)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, escaped(string(line))+"\n")
	return err
}

// escaped writes characters that could control a terminal as JSON escapes, which programs
// decode to the same text. Outside of strings JSON contains no such characters except line
// ends and tabs.
func escaped(text string) string {
	hidden := func(r rune) bool { return r != '\n' && r != '\t' && r != '\r' && sanitize.Steers(r) }
	return sanitize.WrittenOut(text, hidden, "\\u%04x")
}

// escaper is escaped for JSON that is written in pieces.
type escaper struct {
	w    io.Writer
	rest []byte // the beginning of an incomplete character
}

// Write implements io.Writer.
func (e *escaper) Write(p []byte) (int, error) {
	text := append(e.rest, p...)
	whole := len(text)
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if at := len(text) - back; utf8.RuneStart(text[at]) {
			if !utf8.FullRune(text[at:]) {
				whole = at
			}
			break
		}
	}
	e.rest = slices.Clone(text[whole:])
	if _, err := io.WriteString(e.w, escaped(string(text[:whole]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// printTable prints rows under a header, in columns. Text from elsewhere cannot control the
// terminal.
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

// printable makes control characters visible: a name or a command from elsewhere must not
// move the cursor over the text that a person decides on.
func printable(text string) string { return sanitize.Line(text) }

// printableLines is printable but keeps tabs and line ends.
func printableLines(text string) string { return sanitize.Lines(text) }

// clip truncates text to n runes on one line.
func clip(text string, n int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// formatMillis formats Unix milliseconds in local time.
func formatMillis(ms int64) string {
	if ms == 0 {
		return "-"
	}
	return time.UnixMilli(ms).Format("2006-01-02 15:04")
}

// formatAgo says how long ago a time in Unix milliseconds was, in the largest unit that fits.
func formatAgo(ms int64, now time.Time) string {
	if ms == 0 {
		return "-"
	}
	passed := now.Sub(time.UnixMilli(ms))
	for _, unit := range []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}} {
		if n := int(passed / unit.size); n == 1 {
			return "1 " + unit.name + " ago"
		} else if n > 1 {
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

// printEach prints each element as one line of JSON.
func printEach[T any](w io.Writer, list []T) error {
	for _, v := range list {
		if err := printJSON(w, v); err != nil {
			return err
		}
	}
	return nil
}

// listing is how a list command prints its results.
type listing[T any] struct {
	none   string // printed if the list is empty; "" prints only the header
	header []string
	row    func(i int, element T) []string
}

// printList prints the results of a list command: JSON with one element per line, or a
// table for people, with a message if it is empty.
func printList[T any](stdout io.Writer, asJSON bool, list []T, how listing[T]) error {
	if asJSON {
		return printEach(stdout, list)
	}
	if len(list) == 0 && how.none != "" {
		_, err := fmt.Fprintln(stdout, how.none)
		return err
	}
	rows := make([][]string, 0, len(list))
	for i, element := range list {
		rows = append(rows, how.row(i, element))
	}
	return printTable(stdout, how.header, rows)
}

// sayNotes prints to standard error what was left out of a list or is odd.
func sayNotes(stderr io.Writer, notes []string) {
	for _, note := range notes {
		fmt.Fprintln(stderr, "scorel: "+printable(note))
	}
}

// printDone reports what a command did: as JSON the answer of the host, otherwise a sentence.
func printDone(stdout io.Writer, asJSON bool, answer any, said string, args ...any) error {
	if asJSON {
		return printJSON(stdout, answer)
	}
	return printf(stdout, said+"\n", args...)
}

// printf is fmt.Fprintf for arguments from elsewhere: their text cannot control the terminal.
func printf(w io.Writer, format string, args ...any) error {
	args = slices.Clone(args)
	for i, arg := range args {
		if v := reflect.ValueOf(arg); v.Kind() == reflect.String {
			args[i] = printable(v.String())
		}
	}
	_, err := fmt.Fprintf(w, format, args...)
	return err
}
