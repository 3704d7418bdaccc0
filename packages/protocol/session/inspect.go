package session

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Inspection is what a session file says, seen from one leaf. JSON is one object:
//
//	{sessionId, version, entryCount, leafId, entryIds, parentIds, labels, name,
//	 tree: {roots, children}, context: {messages, thinkingLevel, model}}
//
// Entries are in file order, and each occurrence of an id counts. An id that is
// missing is null; leafId and name are null where there is none. Messages are as
// they are stored.
type Inspection struct {
	JSON json.RawMessage
	Hole error // nil, or the *PathError at which the path to the leaf ends
}

// Inspect looks at a file from the entry with the id leaf; "" is the leaf that the
// file ends with. The error is a *PathError of ErrNoEntry.
func (f *File) Inspect(leaf string) (Inspection, error) {
	context := f.Tree.LeafContext()
	leafID := json.RawMessage("null")
	if f.Tree.leaf >= 0 {
		leafID = f.Tree.entries[f.Tree.leaf].jsonID()
	}
	if leaf != "" {
		var err error
		if context, err = f.Tree.Context(leaf); err != nil {
			return Inspection{}, err
		}
		leafID = appendQuoted(nil, leaf)
	}
	entries := f.Tree.entries
	ids, parents := listBuilder{}, listBuilder{}
	for i := range entries {
		ids.add(entries[i].jsonID())
		parents.add(entries[i].jsonParent())
	}
	tree, seen := f.Tree.jsonForest(), context.json()
	idList, parentList := ids.end(), parents.end()
	// One allocation of the whole: a context may be as large as the file.
	o := objectWith(len(tree) + len(seen) + len(idList) + len(parentList) + 4096)
	o.raw("sessionId", f.jsonSession()).raw("version", f.jsonVersion()).
		raw("entryCount", appendDate(nil, float64(len(entries)))).raw("leafId", leafID).
		raw("entryIds", idList).raw("parentIds", parentList).raw("labels", f.Tree.jsonLabels())
	if name := f.Tree.Name(); name != "" {
		o.text("name", name)
	} else {
		o.raw("name", json.RawMessage("null"))
	}
	return Inspection{o.raw("tree", tree).raw("context", seen).end(), context.Hole}, nil
}

// listBuilder writes one JSON array.
type listBuilder struct{ b []byte }

func (l *listBuilder) add(value json.RawMessage) {
	if len(l.b) > 0 {
		l.b = append(l.b, ',')
	} else {
		l.b = append(l.b, '[')
	}
	l.b = append(l.b, value...)
}

func (l *listBuilder) end() json.RawMessage {
	if len(l.b) == 0 {
		return json.RawMessage("[]")
	}
	return append(l.b, ']')
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
	if version := member(f.MigratedHeader(), "version"); version != nil {
		return version
	}
	return json.RawMessage("null")
}

func (e *Entry) jsonID() json.RawMessage { return jsonOf(e.ID, e.idForm, e.Raw, "id") }

func (e *Entry) jsonParent() json.RawMessage {
	return jsonOf(e.ParentID, e.parentForm, e.Raw, "parentId")
}

func jsonOf(id string, f form, raw []byte, name string) json.RawMessage {
	switch f {
	case formString:
		return appendQuoted(nil, id)
	case formOther:
		return member(raw, name)
	}
	return json.RawMessage("null")
}

func (t *Tree) jsonLabels() json.RawMessage {
	o := newObject()
	for _, l := range t.Labels() {
		o.text(l.TargetID, l.Text)
	}
	return o.end()
}

func (t *Tree) jsonForest() json.RawMessage {
	forest := t.Forest()
	roots, children := listBuilder{}, newObject()
	for _, root := range forest {
		roots.add(root.Entry.jsonID())
	}
	seen := make(map[*Node]bool, len(t.entries))
	for todo := slices.Clone(forest); len(todo) > 0; {
		node := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[node] || len(node.Children) == 0 {
			continue
		}
		seen[node] = true
		ids := listBuilder{}
		for _, child := range node.Children {
			ids.add(child.Entry.jsonID())
		}
		children.raw(node.Entry.name(), ids.end())
		todo = append(todo, node.Children...)
	}
	return newObject().raw("roots", roots.end()).raw("children", children.end()).end()
}

// name returns the id as a key of a JavaScript object.
func (e *Entry) name() string {
	if e.idForm == formString {
		return e.ID
	}
	return strings.TrimPrefix(e.key(), keyNull[:1])
}

func (c *Context) json() json.RawMessage {
	size := 1024 + len(c.level) + len(c.model)
	for _, m := range c.Messages {
		size += len(m) + 1
	}
	o := objectWith(size)
	o.key("messages")
	o.b = append(o.b, '[')
	for i, m := range c.Messages {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, m...)
	}
	o.b = append(o.b, ']')
	return o.raw("thinkingLevel", c.level).raw("model", c.model).end()
}
