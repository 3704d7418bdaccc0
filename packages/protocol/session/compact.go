package session

// compact takes the white space between the parts of one JSON value out, in the
// memory of line itself. ok is false where line is not one whole value; it is then
// not to be used. Strings and numbers keep their text.
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
			next, _ = skipString(line, i) // it was passed over before
		}
		out = append(out, line[i:next]...)
		i = next
	}
	return out, true
}
