package session

import "encoding/json"

// objectBuilder writes one JSON object, member by member, in the form of
// JSON.stringify. Nil values are left out, as undefined is.
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

// date adds a date from parseDate.
func (o *objectBuilder) date(name string, ms int64) *objectBuilder {
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

// jsonList writes a JSON array.
func jsonList(values []json.RawMessage) json.RawMessage {
	list := json.RawMessage{'['}
	for i, value := range values {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, value...)
	}
	return append(list, ']')
}
