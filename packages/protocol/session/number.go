package session

// maxSeq is the largest seq that a file may name: a number that JavaScript counts
// exactly, with room for all that follow.
const maxSeq = 1 << 52

// Number gives every entry a seq that increases through the file: its own where
// that does, else the one after the last. The lines stay as they are. It returns
// the last one; 0 in an empty session.
func (t *Tree) Number() uint64 {
	last := uint64(0)
	for i := range t.entries {
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
	i, ok := t.byID[leaf]
	if !ok {
		return &PathError{ErrNoEntry, leaf}
	}
	_, err := t.walk(int(i))
	return err
}
