package session

// Label is a name that a person gave to an entry.
type Label struct {
	TargetID  string
	Text      string
	Timestamp string // of the label entry
}

// labels holds the labels in the order of a JavaScript Map: a changed label keeps
// its place, and a label that was removed and set again comes last.
type labels struct {
	list []Label // a removed label has no text
	at   map[string]int
}

// add applies a label entry; an empty text removes the label.
func (l *labels) add(e *Entry) {
	target, text := labelTarget(e.Raw), memberString(e.Raw, "label")
	i, labelled := l.at[target]
	switch {
	case text == "" && labelled:
		l.list[i] = Label{}
		delete(l.at, target)
	case text == "":
	case labelled:
		l.list[i] = Label{target, text, e.Timestamp}
	default:
		if l.at == nil {
			l.at = map[string]int{}
		}
		l.at[target] = len(l.list)
		l.list = append(l.list, Label{target, text, e.Timestamp})
	}
}

// labelTarget returns the target as a key of a JavaScript object, so that a label
// without a target hides no other.
func labelTarget(raw []byte) string {
	switch target := member(raw, "targetId"); {
	case target == nil:
		return "undefined"
	case target[0] == '"':
		return unquote(target)
	default:
		return string(target)
	}
}

// Labels returns the current labels of all branches.
func (t *Tree) Labels() []Label {
	var list []Label
	for _, l := range t.labels.list {
		if l.Text != "" {
			list = append(list, l)
		}
	}
	return list
}

// Label returns the label of an entry.
func (t *Tree) Label(id string) (Label, bool) {
	i, ok := t.labels.at[id]
	if !ok {
		return Label{}, false
	}
	return t.labels.list[i], true
}
