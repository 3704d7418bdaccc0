package fuzzy

import (
	"fmt"
	"strings"
)

// rewrite makes the edit of one span.
func (s *subject) rewrite(level Strategy, span Span, old, new string) (Edit, []string, error) {
	matched := s.text[span.Start:span.End]
	if level != Exact {
		if err := drift(old, new, matched); err != nil {
			return Edit{}, nil, err
		}
	}
	new, notes := realControls(new, matched)
	if level == UnicodeNormalized {
		new = keepTypeset(matched, new)
	}
	if level != Exact {
		new = reindent(new, indentOf(firstLine(old)), indentOf(firstLine(matched)))
	}
	return Edit{span, new}, notes, nil
}

// drift refuses quotes that were escaped on the way: \' and \" that both texts
// hold and the file does not.
func drift(old, new, matched string) error {
	for _, escaped := range []string{`\'`, `\"`} {
		if strings.Contains(old, escaped) && strings.Contains(new, escaped) && !strings.Contains(matched, escaped) {
			return &Error{Kind: KindEscapeDrift, Message: fmt.Sprintf(
				"old_string and new_string hold %s, and the file has the quote without a backslash; send both without the backslash", escaped)}
		}
	}
	return nil
}

// realControls makes control characters of \t and \r, which stand as two
// characters, when the text that is replaced has real ones and no such pairs.
func realControls(new, matched string) (string, []string) {
	var notes []string
	for _, c := range []struct{ pair, char, name string }{{`\t`, "\t", "tab"}, {`\r`, "\r", "carriage return"}} {
		if strings.Contains(new, c.pair) && strings.Contains(matched, c.char) && !strings.Contains(matched, c.pair) {
			new = strings.ReplaceAll(new, c.pair, c.char)
			notes = append(notes, fmt.Sprintf("%s in new_string was written as a real %s, as the file has it", c.pair, c.name))
		}
	}
	return new, notes
}

// reindent moves lines from one indentation to another. Blank lines stay.
func reindent(text, from, to string) string {
	if from == to {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strip(line) == "" {
			continue
		}
		if rest, ok := strings.CutPrefix(line, from); ok {
			lines[i] = to + rest
		} else {
			lines[i] = to + strings.TrimLeft(line, " \t")
		}
	}
	return strings.Join(lines, "\n")
}

// merge applies the change from old to new to matched, which has as many lines as
// old. What old and new share keeps the line of the file. At context_aware a line
// that goes must be like the one that old names. line is where matched begins.
func merge(level Strategy, matched, old, new string, line int) (string, error) {
	have := strings.Split(matched, "\n")
	from, to := indentOf(firstLine(old)), indentOf(firstLine(matched))
	var out []string
	at := 0
	for _, op := range lineOps(withEnd(old), withEnd(new)) {
		if op.equal {
			out = append(out, have[at:at+len(op.old)]...)
			at += len(op.old)
			continue
		}
		if level == ContextAware {
			if err := conflict(have, op.old, old, at, line); err != nil {
				return "", err
			}
		}
		at += len(op.old)
		for _, added := range op.new {
			out = append(out, reindent(strings.TrimSuffix(added, "\n"), from, to))
		}
	}
	return strings.Join(out, "\n"), nil
}

// conflict refuses to change lines of the file, from at on, that are not like those
// that the edit names. line is where the file's lines begin.
func conflict(have, gone []string, old string, at, line int) error {
	for k, text := range gone {
		text = strings.TrimSuffix(text, "\n")
		m := measure(strip(have[at+k]))
		if newPattern(strip(text)).alike(&m) {
			continue
		}
		err := &Error{Kind: KindApproximateConflict, Similar: true, Message: fmt.Sprintf(
			"old_string is only similar to lines %d to %d, and line %d, which the edit would change, is another one there:\n  file has: %s\n  you sent: %s\nSend old_string as the file has it",
			line+1, line+len(have), line+at+k+1, cutRunes(have[at+k], maxHintChars), cutRunes(text, maxHintChars))}
		err.compareBlanks(line, have[0], strings.SplitN(old, "\n", 2)[0])
		return err
	}
	return nil
}

func withEnd(text string) string { return text + "\n" }
