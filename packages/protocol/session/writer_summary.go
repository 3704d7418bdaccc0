package session

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Compaction is a summary that replaces everything before an entry.
type Compaction struct {
	Summary          string
	FirstKeptEntryID string // "" keeps nothing
	TokensBefore     int
	Details          json.RawMessage // nil: none
	Usage            json.RawMessage // nil: none
	FromHook         *bool
}

// Compaction adds a compaction. It includes the combined result of the context's
// system messages so far, since those before it are left out from now on.
func (w *Writer) Compaction(s Stamp, c Compaction) (json.RawMessage, error) {
	kept := c.FirstKeptEntryID
	if kept == "" {
		kept = s.ID
	}
	o := w.begin(s, TypeCompaction).text("summary", c.Summary).text("firstKeptEntryId", kept).
		raw("tokensBefore", strconv.AppendInt(nil, int64(c.TokensBefore), 10)).
		raw("details", c.Details).raw("usage", c.Usage).flag("fromHook", c.FromHook)
	if system := systemMessage(w.tree.LeafContext().Messages, s.Timestamp); system != nil {
		o.raw("systemMessage", system)
	}
	return w.finish(o, s)
}

// BranchSummary is the summary that a person carries over from an abandoned branch.
type BranchSummary struct {
	Summary  string
	FromID   string          // the abandoned leaf; "" means the current leaf, or "root"
	Details  json.RawMessage // nil: none
	Usage    json.RawMessage // nil: none
	FromHook *bool
}

// BranchSummary moves the leaf to target ("" means before the first entry) and adds
// a summary of the abandoned branch.
func (w *Writer) BranchSummary(s Stamp, target string, b BranchSummary) (json.RawMessage, error) {
	left := w.tree.leaf
	from := b.FromID
	if from == "" {
		from = w.tree.Leaf()
	}
	if from == "" {
		from = "root"
	}
	if err := w.tree.Branch(target); err != nil {
		return nil, err
	}
	o := w.begin(s, TypeBranchSummary).text("fromId", from).text("summary", b.Summary).
		raw("details", b.Details).raw("usage", b.Usage).flag("fromHook", b.FromHook)
	line, err := w.finish(o, s)
	if err != nil {
		w.tree.leaf = left
	}
	return line, err
}

// flag adds a boolean; nil adds nothing.
func (o *objectBuilder) flag(name string, value *bool) *objectBuilder {
	if value == nil {
		return o
	}
	if *value {
		return o.raw(name, json.RawMessage("true"))
	}
	return o.raw(name, json.RawMessage("false"))
}

// systemMessage combines the system messages of a context into one: their contents
// joined by a blank line, their sections patched by name (null removes one), and
// their tools, removed before new ones are added. It is nil if the result is empty.
// timestamp is the time of the entry that will hold it.
func systemMessage(messages []json.RawMessage, timestamp string) json.RawMessage {
	var (
		contents        []string
		sections, tools orderedSet
		any             bool
	)
	for _, m := range messages {
		if memberString(m, "role") != "system" {
			continue
		}
		any = true
		if text := contentText(member(m, "content")); text != "" {
			contents = append(contents, text)
		}
		for _, f := range fields(member(m, "sections")) {
			sections.set(f.name, f.value)
		}
		for _, tool := range elements(member(m, "toolsRemoved")) {
			tools.set(memberString(tool, "name"), nil)
		}
		for _, tool := range elements(member(m, "toolsAdded")) {
			tools.set(memberString(tool, "name"), tool)
		}
	}
	if !any {
		return nil
	}
	o := newObject().text("role", "system").text("content", strings.Join(contents, "\n\n"))
	if len(sections.fields) > 0 {
		o.raw("sections", joinFields(sections.fields))
	}
	var added []json.RawMessage
	for _, f := range tools.fields {
		added = append(added, f.value)
	}
	if len(added) > 0 {
		o.raw("toolsAdded", jsonList(added))
	}
	return o.date("timestamp", parseDate(timestamp)).end()
}

// orderedSet keeps named values in the order of a JavaScript Map.
type orderedSet struct{ fields []field }

// set puts a value under a name, in its place if it exists; nil and null remove the
// name.
func (s *orderedSet) set(name string, value []byte) {
	gone := value == nil || isNull(value)
	for i := range s.fields {
		if s.fields[i].name != name {
			continue
		}
		if s.fields[i].value = value; gone {
			s.fields = append(s.fields[:i], s.fields[i+1:]...)
		}
		return
	}
	if !gone {
		s.fields = append(s.fields, field{appendQuoted(nil, name), name, value})
	}
}

// contentText joins the texts of a message's content, a line each.
func contentText(content json.RawMessage) string {
	if len(content) > 0 && content[0] == '"' {
		return unquote(content)
	}
	var texts []string
	for _, block := range elements(content) {
		if memberString(block, "type") == "text" {
			texts = append(texts, memberString(block, "text"))
		}
	}
	return strings.Join(texts, "\n")
}

// elements returns the texts of the values in a JSON array.
func elements(array json.RawMessage) []json.RawMessage {
	if len(array) == 0 || array[0] != '[' {
		return nil
	}
	var list []json.RawMessage
	for i := skipSpace(array, 1); i < len(array) && array[i] != ']'; {
		end, ok := skipValue(array, i)
		if !ok {
			break
		}
		list = append(list, array[i:end:end])
		if i = skipSpace(array, end); i < len(array) && array[i] == ',' {
			i = skipSpace(array, i+1)
		}
	}
	return list
}
