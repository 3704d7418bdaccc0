package session

import "encoding/json"

// objectBuilder writes one JSON object, member by member, in JSON.stringify's
// form. Values that are nil are left out, as undefined is.
type objectBuilder struct{ b []byte }

func newObject() *objectBuilder { return &objectBuilder{b: append(make([]byte, 0, 256), '{')} }

func (o *objectBuilder) key(name string) {
	if len(o.b) > 1 {
		o.b = append(o.b, ',')
	}
	o.b = append(appendQuoted(o.b, name), ':')
}

// text adds a string.
func (o *objectBuilder) text(name, value string) *objectBuilder {
	o.key(name)
	o.b = appendQuoted(o.b, value)
	return o
}

// raw adds JSON; nil adds nothing.
func (o *objectBuilder) raw(name string, value json.RawMessage) *objectBuilder {
	if value != nil {
		o.key(name)
		o.b = append(o.b, value...)
	}
	return o
}

// date adds a date in Unix milliseconds; NaN is null.
func (o *objectBuilder) date(name string, ms float64) *objectBuilder {
	o.key(name)
	o.b = appendDate(o.b, ms)
	return o
}

// id adds an id, or null for "".
func (o *objectBuilder) id(name, value string) *objectBuilder {
	if value == "" {
		return o.raw(name, json.RawMessage("null"))
	}
	return o.text(name, value)
}

func (o *objectBuilder) end() json.RawMessage { return append(o.b, '}') }

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
