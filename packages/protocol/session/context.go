package session

import (
	"bytes"
	"encoding/json"
	"slices"
)

// Context is what a model is given of a session at a leaf.
type Context struct {
	Messages      []json.RawMessage // as stored, unless edited
	Sources       []string          // the ids of the entries that the messages come from
	ThinkingLevel string            // "off" if none was set
	ThinkingSet   bool              // an entry set it
	Model         *ModelRef         // nil if none was set
	// Hole is nil, or the *PathError at which the path to the leaf ends before a
	// root: entries above it are not in the context.
	Hole error

	level, model json.RawMessage // as in the file, of any JSON kind; nil: absent
}

// ModelRef identifies a model.
type ModelRef struct {
	Provider string `json:"provider,omitempty"`
	ModelID  string `json:"modelId,omitempty"`
}

// Context builds the context at an entry; "" means before the first entry. The
// error is a *PathError of ErrNoEntry. Damage above the leaf is not an error: see
// Context.Hole.
func (t *Tree) Context(leaf string) (Context, error) {
	if leaf == "" {
		return t.contextAt(-1), nil
	}
	i, ok := t.place(leaf)
	if !ok {
		return Context{}, &PathError{ErrNoEntry, leaf}
	}
	return t.contextAt(i), nil
}

// LeafContext builds the context at the leaf, even if the leaf has no id. As in Pi,
// a null id is not a leaf.
func (t *Tree) LeafContext() Context {
	if t.leaf >= 0 && t.entries[t.leaf].idForm == formNull {
		return t.contextAt(-1)
	}
	return t.contextAt(t.leaf)
}

func (t *Tree) contextAt(leaf int) Context {
	c := Context{ThinkingLevel: "off", level: json.RawMessage(`"off"`), model: json.RawMessage("null")}
	var path []int32
	if leaf >= 0 {
		path, c.Hole = t.walk(leaf)
	}
	t.settings(&c, path)
	b := contextBuilder{tree: t, context: &c, edits: map[string]json.RawMessage{}}
	b.build(path)
	return c
}

// settings finds the last model and the last thinking level on the whole path,
// including entries before a compaction.
func (t *Tree) settings(c *Context, path []int32) {
	level := false
	for _, place := range slices.Backward(path) {
		e := &t.entries[place]
		switch {
		case e.Type == TypeThinkingLevelChange && !level:
			c.level = member(e.Raw, "thinkingLevel")
			c.ThinkingLevel, c.ThinkingSet, level = stringOf(c.level), true, true
		case e.Type == TypeModelChange && c.Model == nil:
			c.setModel(member(e.Raw, "provider"), member(e.Raw, "modelId"))
		case e.Type == TypeMessage && c.Model == nil && e.messageRole() == roleAssistant:
			m := e.message()
			c.setModel(member(m, "provider"), member(m, "model"))
		}
		if level && c.Model != nil {
			return
		}
	}
}

func (c *Context) setModel(provider, modelID json.RawMessage) {
	c.Model = &ModelRef{stringOf(provider), stringOf(modelID)}
	c.model = newObject().raw("provider", provider).raw("modelId", modelID).end()
}

// contextBuilder selects the relevant entries and turns them into messages.
type contextBuilder struct {
	tree    *Tree
	context *Context
	edits   map[string]json.RawMessage // target id -> its last replacement
}

func (b *contextBuilder) build(path []int32) {
	entries := b.tree.entries
	last := -1
	for i, place := range slices.Backward(path) {
		if entries[place].Type == TypeCompaction {
			last = i
			break
		}
	}
	if last < 0 {
		b.expect(len(path))
		b.collectEdits(path)
		b.project(path, false)
		return
	}
	kept, after := path[b.firstKept(path[:last], &entries[path[last]]):last], path[last+1:]
	b.expect(2 + len(kept) + len(after)) // the checkpoint takes at most two
	b.collectEdits(kept)
	b.collectEdits(after)
	b.checkpoint(&entries[path[last]])
	b.project(kept, true)
	b.project(after, false)
}

// expect reserves capacity for messages.
func (b *contextBuilder) expect(messages int) {
	b.context.Messages = make([]json.RawMessage, 0, messages)
	b.context.Sources = make([]string, 0, messages)
}

// firstKept returns the index on the path from which the compaction keeps entries;
// len(path) if it keeps none.
func (b *contextBuilder) firstKept(path []int32, compaction *Entry) int {
	id := member(compaction.Raw, "firstKeptEntryId")
	if len(id) == 0 || id[0] != '"' {
		return len(path)
	}
	want := unquote(id)
	for i, place := range path {
		if e := &b.tree.entries[place]; e.idForm == formString && e.ID == want {
			return i
		}
	}
	return len(path)
}

// collectEdits records the last edit of each entry. An edit without a replacement
// changes nothing.
func (b *contextBuilder) collectEdits(path []int32) {
	for _, place := range path {
		if e := &b.tree.entries[place]; e.Type == TypeContextEdit {
			if replacement := member(e.Raw, "replacement"); replacement != nil {
				b.edits[memberString(e.Raw, "targetId")] = replacement
			}
		}
	}
}

// checkpoint adds the summary that replaces what the compaction left out.
func (b *contextBuilder) checkpoint(e *Entry) {
	if edit, ok := b.edits[e.ID]; ok && isNull(edit) {
		return
	}
	if system := member(e.Raw, "systemMessage"); truthy(system) {
		b.add(e, system)
	}
	b.add(e, newObject().text("role", "compactionSummary").raw("summary", member(e.Raw, "summary")).
		raw("tokensBefore", member(e.Raw, "tokensBefore")).date("timestamp", e.date()).end())
}

// project turns entries into messages. System messages before a checkpoint are left
// out: the checkpoint holds their combined result.
func (b *contextBuilder) project(path []int32, kept bool) {
	for _, place := range path {
		e := &b.tree.entries[place]
		if kept && e.Type == TypeMessage && e.messageRole() == roleSystem {
			continue
		}
		message := e.contextMessage()
		if message == nil {
			continue
		}
		if len(b.edits) > 0 {
			message = b.edited(e, message)
		}
		if message != nil {
			b.add(e, message)
		}
	}
}

func (b *contextBuilder) add(e *Entry, message json.RawMessage) {
	b.context.Messages = append(b.context.Messages, message)
	b.context.Sources = append(b.context.Sources, e.ID)
}

// edited returns the message after the last edit of its entry; nil if the edit
// removes it.
func (b *contextBuilder) edited(e *Entry, message json.RawMessage) json.RawMessage {
	edit, ok := b.edits[e.ID]
	if !ok || e.idForm != formString {
		return message
	}
	if isNull(edit) {
		return nil
	}
	role := e.messageRole()
	switch {
	case e.Type == TypeCustomMessage:
		role = roleCustom
	case e.Type != TypeMessage:
		return message
	}
	if role == roleOther || role == roleSystem {
		return message
	}
	content := member(edit, "content")
	if len(content) > 0 && content[0] == '"' && (role == roleAssistant || role == roleToolResult) {
		content = slices.Concat([]byte(`[{"type":"text","text":`), content, []byte(`}]`))
	}
	return withMember(message, "content", content)
}

// contextMessage returns the message that an entry contributes; nil if it
// contributes none.
func (e *Entry) contextMessage() json.RawMessage {
	switch e.Type {
	case TypeMessage:
		return e.storedMessage()
	case TypeCustomMessage:
		content := member(e.Raw, "content")
		if len(content) == 0 || isNull(content) {
			content = json.RawMessage("[]")
		}
		return newObject().text("role", "custom").raw("customType", member(e.Raw, "customType")).raw("content", content).
			raw("display", member(e.Raw, "display")).raw("details", member(e.Raw, "details")).date("timestamp", e.date()).end()
	case TypeBranchSummary:
		summary := member(e.Raw, "summary")
		if !truthy(summary) {
			return nil
		}
		return newObject().text("role", "branchSummary").raw("summary", summary).raw("fromId", member(e.Raw, "fromId")).
			date("timestamp", e.date()).end()
	}
	return nil
}

// storedMessage returns the message as stored in the file; if it lacks the content
// that its role needs, it gets empty content.
func (e *Entry) storedMessage() json.RawMessage {
	message := e.message()
	if message == nil || isNull(message) {
		return nil
	}
	role, noContent := e.messageRole(), e.noContent
	if e.body == 0 {
		content := member(message, "content")
		noContent = len(content) == 0 || isNull(content)
	}
	if !noContent {
		return message
	}
	switch role {
	case roleUser, roleAssistant, roleToolResult:
		return withMember(message, "content", []byte("[]"))
	case roleSystem:
		return withMember(message, "content", []byte(`""`))
	}
	return message
}

func (e *Entry) messageRole() role {
	if e.body > 0 || e.Type != TypeMessage {
		return e.role
	}
	if value := member(e.message(), "role"); len(value) > 0 {
		return roleOf(value)
	}
	return roleOther
}

func isNull(value []byte) bool { return bytes.Equal(value, []byte("null")) }

// truthy reports whether JavaScript treats a JSON value as true; nil is undefined.
func truthy(value []byte) bool {
	return len(value) > 0 && (value[0] == '{' || !falsy(value))
}
