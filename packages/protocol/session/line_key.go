package session

// Keys of entries whose id is not a string. They contain a character that no id of
// Pi or scorel has.
const (
	keyNull   = "\x00null"
	keyAbsent = "\x00undefined"
)

// key returns the key of the entry in the tree.
func (e *Entry) key() string { return e.keyOf(e.ID, e.idForm, "id") }

// parentKey returns the key of the parent, even if there is no such entry.
func (e *Entry) parentKey() string { return e.keyOf(e.ParentID, e.parentForm, "parentId") }

func (e *Entry) keyOf(id string, f form, name string) string {
	switch f {
	case formNull:
		return keyNull
	case formAbsent:
		return keyAbsent
	case formOther:
		return "\x00" + string(member(e.Raw, name))
	}
	return id
}

// hasParent reports whether the entry has a parent: as in JavaScript, null,
// undefined, the empty string, 0 and false mean none.
func (e *Entry) hasParent() bool {
	return e.ParentID != "" || e.parentForm == formOther && truthy(member(e.Raw, "parentId"))
}

// parentName returns the id of the parent for people: its JSON text if it is not a
// string.
func (e *Entry) parentName() string {
	if e.parentForm == formOther {
		return string(member(e.Raw, "parentId"))
	}
	return e.ParentID
}
