package session

import (
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Inspection is the content of a session file as seen from one leaf. Its JSON is
// one object:
//
//	{sessionId, version, entryCount, leafId, entryIds, parentIds, labels, name,
//	 tree: {roots, children}, context: {messages, thinkingLevel, model}}
//
// Entries are in file order, and each occurrence of an id counts. A missing id is
// null; leafId and name are null if there is none. Messages are as stored.
type Inspection struct {
	Hole error // nil, or the *PathError at which the path to the leaf ends

	file    *File
	leaf    string // "" for the leaf of the file
	context Context
}

// Inspect inspects a file at the entry with the id leaf; "" means the leaf at the
// end of the file. The error is a *PathError of ErrNoEntry.
func (f *File) Inspect(leaf string) (Inspection, error) {
	if leaf == "" {
		context := f.Tree.LeafContext()
		return Inspection{context.Hole, f, leaf, context}, nil
	}
	context, err := f.Tree.Context(leaf)
	if err != nil {
		return Inspection{}, err
	}
	return Inspection{context.Hole, f, leaf, context}, nil
}

// Write writes the JSON incrementally. The error is that of w.
func (in Inspection) Write(w io.Writer) error {
	s, tree := newStream(w), in.file.Tree
	s.begin('{')
	s.key("sessionId").raw(in.file.jsonSession())
	s.key("version").raw(in.file.jsonVersion())
	s.key("entryCount").raw(strconv.AppendInt(nil, int64(len(tree.entries)), 10))
	s.key("leafId")
	in.writeLeaf(s)
	s.key("entryIds").begin('[')
	for i := range tree.entries {
		tree.entries[i].writeID(s)
	}
	s.end(']')
	s.key("parentIds").begin('[')
	for i := range tree.entries {
		e := &tree.entries[i]
		s.id(e.ParentID, e.parentForm, e.Raw, "parentId")
	}
	s.end(']')
	tree.writeLabels(s)
	if name := tree.Name(); name != "" {
		s.key("name").text(name)
	} else {
		s.key("name").raw([]byte("null"))
	}
	tree.writeForest(s)
	in.context.write(s)
	s.end('}')
	return s.w.Flush()
}

func (in Inspection) writeLeaf(s *stream) {
	switch tree := in.file.Tree; {
	case in.leaf != "":
		s.text(in.leaf)
	case tree.leaf >= 0:
		tree.entries[tree.leaf].writeID(s)
	default:
		s.raw([]byte("null"))
	}
}

func (f *File) jsonSession() json.RawMessage {
	if f.HeaderLine == nil {
		return json.RawMessage("null")
	}
	return appendQuoted(nil, f.Header.ID)
}

func (f *File) jsonVersion() json.RawMessage {
	if f.HeaderLine == nil {
		return strconv.AppendInt(nil, Version, 10)
	}
	if version := member(f.migratedHeader(), "version"); version != nil {
		return version
	}
	return json.RawMessage("null")
}

func (e *Entry) writeID(s *stream) { s.id(e.ID, e.idForm, e.Raw, "id") }

func (t *Tree) writeLabels(s *stream) {
	s.key("labels").begin('{')
	for _, l := range t.Labels() {
		s.key(l.TargetID).text(l.Text)
	}
	s.end('}')
}

func (t *Tree) writeForest(s *stream) {
	forest := t.Forest()
	ids := func(places []int32) {
		s.begin('[')
		for _, place := range places {
			t.entries[place].writeID(s)
		}
		s.end(']')
	}
	s.key("tree").begin('{')
	s.key("roots")
	ids(forest.Roots)
	s.key("children").begin('{')
	seen := make([]uint64, len(t.entries)/64+1)
	for _, root := range slices.Backward(forest.Roots) {
		for todo := []int32{root}; len(todo) > 0; {
			place := todo[len(todo)-1]
			todo = todo[:len(todo)-1]
			children := forest.Children(place)
			if seen[place/64]&(1<<(place%64)) != 0 || len(children) == 0 {
				continue
			}
			seen[place/64] |= 1 << (place % 64)
			s.key(t.entries[place].name())
			ids(children)
			todo = append(todo, children...)
		}
	}
	s.end('}')
	s.end('}')
}

// name returns the id as a key of a JavaScript object.
func (e *Entry) name() string {
	if e.idForm == formString {
		return e.ID
	}
	return strings.TrimPrefix(e.key(), keyNull[:1])
}

func (c *Context) write(s *stream) {
	s.key("context").begin('{')
	s.key("messages").begin('[')
	for _, m := range c.Messages {
		s.raw(m)
	}
	s.end(']')
	if c.level != nil {
		s.key("thinkingLevel").raw(c.level)
	}
	s.key("model").raw(c.model)
	s.end('}')
}
