package session

// compact is json.Compact within the memory of line, in half the time. ok is false
// if line is not one complete value; line must not be used then.
func compact(line []byte) (compacted []byte, ok bool) {
	end, ok := skipValue(line, skipSpace(line, 0))
	if !ok || skipSpace(line, end) != len(line) {
		return nil, false
	}
	out := line[:0]
	for i := 0; i < len(line); {
		next := i + 1
		switch line[i] {
		case ' ', '\t', '\n', '\r':
			i++
			continue
		case '"':
			next, _ = skipString(line, i) // it was scanned before
		}
		out = append(out, line[i:next]...)
		i = next
	}
	return out, true
}
