package session

// maxSeq is the largest seq that a file may contain: a number that JavaScript
// represents exactly, with room for all later ones.
const maxSeq = 1 << 52

// Number gives every entry a seq that increases through the file: the stored one if
// it increases, otherwise the next number. It begins at the entry with index from,
// and last is the seq of the entry before it; Number(0, 0) numbers all. The lines
// are unchanged. It returns the last seq.
func (t *Tree) Number(from int, last uint64) uint64 {
	for i := from; i < len(t.entries); i++ {
		e := &t.entries[i]
		if e.Seq > maxSeq {
			e.Seq = 0
		}
		last = max(last+1, e.Seq)
		e.Seq = last
	}
	return last
}

// CheckPath returns the error of Path without building the path.
func (t *Tree) CheckPath(leaf string) error {
	if leaf == "" {
		return nil
	}
	i, ok := t.place(leaf)
	if !ok {
		return &PathError{ErrNoEntry, leaf}
	}
	return t.climb(i, func(int) bool { return true })
}
