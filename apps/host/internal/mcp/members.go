package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
)

// member is a member of a JSON object, in the order of its text.
type member struct {
	name string
	raw  json.RawMessage
}

// members reads a JSON object.
func members(data []byte) ([]member, error) {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.Join(errors.New("it is not a JSON object"), err)
	}
	var list []member
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return nil, err
		}
		list = append(list, member{name.(string), raw}) // names of members are strings
	}
	return list, nil
}

// put replaces a member where it is, appends it, or removes it with nil.
func put(list []member, name string, raw json.RawMessage) []member {
	i := slices.IndexFunc(list, func(m member) bool { return m.name == name })
	switch {
	case i < 0 && raw == nil:
		return list
	case i < 0:
		return append(list, member{name, raw})
	case raw == nil:
		return slices.Delete(list, i, i+1)
	}
	list[i].raw = raw
	return list
}

func get(list []member, name string) json.RawMessage {
	for _, m := range list {
		if m.name == name {
			return m.raw
		}
	}
	return json.RawMessage("{}")
}

// object is the text of members. Their names are written as JSON writes them anyway.
func object(list []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(m.name) // a string can always be encoded
		b.WriteByte(':')
		b.Write(m.raw)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// withServer changes one server in the text of a .mcp.json, or removes it if fields is nil.
// fields are the members that this program knows, as JSON, or "" for those to leave out;
// the others stay.
func withServer(data []byte, name string, fields map[string]string) ([]byte, error) {
	file, err := members(data)
	if err != nil {
		return nil, err
	}
	servers, err := members(get(file, "mcpServers"))
	if err != nil {
		return nil, err
	}
	if fields == nil {
		servers = put(servers, name, nil)
	} else {
		server, err := members(get(servers, name))
		if err != nil {
			return nil, err
		}
		for _, field := range []string{"type", "command", "args", "env", "cwd", "url", "headers"} {
			var raw json.RawMessage
			if fields[field] != "" {
				raw = json.RawMessage(fields[field])
			}
			server = put(server, field, raw)
		}
		servers = put(servers, name, object(server))
	}
	var b bytes.Buffer
	if err := json.Indent(&b, object(put(file, "mcpServers", object(servers))), "", "  "); err != nil {
		return nil, err
	}
	return append(b.Bytes(), '\n'), nil
}
