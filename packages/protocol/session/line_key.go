package session

// Keys under which the tree files entries whose id is no string. They hold a
// character that no id of Pi or of ours has.
const (
	keyNull   = "\x00null"
	keyAbsent = "\x00undefined"
)

// key returns what the tree files the entry under.
func (e *Entry) key() string { return e.keyOf(e.ID, e.idForm, "id") }

// parentKey returns the key of the parent, whether or not there is one.
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

// hasParent tells whether a walk to the root goes on: JavaScript takes null,
// undefined, the empty text, 0 and false for no parent.
func (e *Entry) hasParent() bool {
	return e.ParentID != "" || e.parentForm == formOther && truthy(member(e.Raw, "parentId"))
}

// parentName returns the id of the parent for people: its JSON text where it is no
// string.
func (e *Entry) parentName() string {
	if e.parentForm == formOther {
		return string(member(e.Raw, "parentId"))
	}
	return e.ParentID
}
