package session

import (
	"encoding/json"
	"slices"
)

// Branched returns the entry lines of a new session that holds only the path to
// leaf: the entries without labels and without those for which drop returns true
// (nil: none), each with the previous remaining entry as its parent, with their ids
// and times; then one label entry for each label on that path, with ids from newID
// and the times of the labels. A compaction whose first kept entry was dropped
// keeps from the next remaining entry. Lines lose their chain values and heads,
// which belong to another file.
//
// The path is strict: the error is a *PathError.
func (t *Tree) Branched(leaf string, drop func(Entry) bool, newID func() string) ([]json.RawMessage, error) {
	path, err := t.Path(leaf)
	if err != nil {
		return nil, err
	}
	stays := func(e Entry) bool { return e.Type != TypeLabel && (drop == nil || !drop(e)) }
	b := brancher{moved: map[string]string{}, on: map[string]bool{}}
	b.follow(path, stays)
	for _, e := range path {
		if stays(e) {
			b.add(e)
		}
	}
	for _, label := range t.Labels() {
		if b.on[label.TargetID] {
			b.label(label, newID())
		}
	}
	return b.lines, nil
}

// brancher builds the lines of a branched session.
type brancher struct {
	lines []json.RawMessage
	last  string            // id of the last line; "" before the first
	moved map[string]string // dropped entry -> the next entry that is not dropped, or ""
	on    map[string]bool   // ids that were kept
}

// follow records for every dropped entry which one comes after it.
func (b *brancher) follow(path []Entry, stays func(Entry) bool) {
	next := ""
	for _, e := range slices.Backward(path) {
		if stays(e) {
			next = e.ID
		} else {
			b.moved[e.ID] = next
		}
	}
}

func (b *brancher) add(e Entry) {
	raw := Unlinked(e.Raw)
	if e.ParentID != b.last || b.last == "" && e.hasParent() {
		raw = withMember(raw, "parentId", quotedOrNull(b.last))
	}
	if e.Type == TypeCompaction {
		if kept, behind := b.moved[memberString(raw, "firstKeptEntryId")]; behind && kept != "" {
			raw = withMember(raw, "firstKeptEntryId", appendQuoted(nil, kept))
		}
	}
	b.on[e.ID] = true
	b.last = e.ID
	b.lines = append(b.lines, raw)
}

func (b *brancher) label(l Label, id string) {
	o := newObject().text("type", string(TypeLabel)).text("id", id).id("parentId", b.last).
		text("timestamp", l.Timestamp).text("targetId", l.TargetID).text("label", l.Text)
	b.last = id
	b.lines = append(b.lines, o.end())
}

func quotedOrNull(id string) []byte {
	if id == "" {
		return []byte("null")
	}
	return appendQuoted(nil, id)
}
