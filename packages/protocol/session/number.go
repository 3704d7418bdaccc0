package session

// maxSeq is the largest seq that a file may name: a number that JavaScript counts
// exactly, with room for all that follow.
const maxSeq = 1 << 52

// Number gives every entry a seq that increases through the file: its own where
// that does, else the one after the last. It begins at the entry of index from,
// with last as the seq of the one before; Number(0, 0) counts all. The lines stay
// as they are. It returns the last seq.
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

// CheckPath is Path for who only wants to know whether there is one.
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
