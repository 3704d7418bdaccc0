package agentdef

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

// Draft is the intended content of an agent's file.
type Draft struct {
	Name, Description, Model  string
	Tools, Without, Subagents []string // nil omits the field; for Without an empty list does too
	MaxConcurrent, MaxTurns   int      // 0 omits the field
	Enabled                   bool
	Body                      string
}

// Version identifies the content of a file.
func Version(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

var goodName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// CheckName returns an error that explains why a name is invalid.
func CheckName(name string) error {
	if len(name) > 64 || !goodName.MatchString(name) {
		return fmt.Errorf("%.80q cannot be the name of an agent: use at most 64 characters of a-z, 0-9 and single hyphens", name)
	}
	return nil
}

// Write returns a file with the content of the draft. before is the current file, nil for a
// new one: its unknown fields, the order of its fields and its comments are preserved.
func Write(before []byte, d Draft) ([]byte, error) {
	d.Description, d.Body = strings.ToValidUTF8(d.Description, "\uFFFD"), strings.ToValidUTF8(d.Body, "\uFFFD")
	fields := &yaml.Node{Kind: yaml.MappingNode}
	document := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{fields}}
	if before != nil {
		head, err := frontMatter(before)
		if err != nil {
			return nil, err
		}
		var read yaml.Node
		if err := yaml.Unmarshal([]byte(head), &read); err != nil || len(read.Content) != 1 || read.Content[0].Kind != yaml.MappingNode {
			return nil, errors.New("its front matter is not valid YAML: fix the file by hand first")
		}
		document, fields = &read, read.Content[0]
	}
	e := editor{fields}
	e.text("name", d.Name)
	e.text("description", d.Description)
	e.text("model", d.Model)
	e.list("tools", d.Tools, d.Tools != nil)
	e.list("disallowedTools", d.Without, len(d.Without) > 0)
	e.list("subagents", d.Subagents, d.Subagents != nil)
	e.number("max_concurrent", "maxConcurrent", d.MaxConcurrent)
	e.number("max_turns", "maxTurns", d.MaxTurns)
	e.enabled(d.Enabled)
	var out bytes.Buffer
	out.WriteString("---\n")
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := errors.Join(encoder.Encode(document), encoder.Close()); err != nil {
		return nil, fmt.Errorf("writing the front matter: %w", err)
	}
	out.WriteString("---\n" + strings.TrimSpace(d.Body) + "\n")
	return out.Bytes(), nil
}

// frontMatter returns the text between the --- lines of a file.
func frontMatter(data []byte) (string, error) {
	text := strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return "", errors.New("it has no front matter: fix the file by hand first")
	}
	head, _, ok := strings.Cut("\n"+rest, "\n---")
	if !ok {
		return "", errors.New("its front matter is not closed: fix the file by hand first")
	}
	return head, nil
}

// editor changes the fields of a front matter.
type editor struct{ fields *yaml.Node }

// set replaces a value and keeps the comment after it; nil removes the field.
func (e editor) set(name string, value *yaml.Node) {
	for i := 0; i+1 < len(e.fields.Content); i += 2 {
		if e.fields.Content[i].Value != name {
			continue
		}
		if value == nil {
			e.fields.Content = append(e.fields.Content[:i], e.fields.Content[i+2:]...)
			return
		}
		value.LineComment = e.fields.Content[i+1].LineComment
		e.fields.Content[i+1] = value
		return
	}
	if value != nil {
		e.fields.Content = append(e.fields.Content, scalar("!!str", name), value)
	}
}

// get returns a value, or nil if there is none.
func (e editor) get(name string) *yaml.Node {
	for i := 0; i+1 < len(e.fields.Content); i += 2 {
		if e.fields.Content[i].Value == name {
			return e.fields.Content[i+1]
		}
	}
	return nil
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

func (e editor) text(name, value string) {
	old := e.get(name)
	switch {
	case value == "" && old != nil && old.Value == "inherit": // means the same
	case value == "":
		e.set(name, nil)
	case old == nil || old.Value != value:
		e.set(name, scalar("!!str", value))
	}
}

// list writes a list of names, unless the file already has the same list in any form.
func (e editor) list(name string, values []string, there bool) {
	old := e.get(name)
	if !there {
		e.set(name, nil)
		return
	}
	if old != nil {
		var read any
		if old.Decode(&read) == nil && equal(list(read), values) {
			return
		}
	}
	node := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, value := range values {
		node.Content = append(node.Content, scalar("!!str", value))
	}
	e.set(name, node)
}

func equal(a, b []string) bool {
	if a == nil || len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// number writes a number under the name that the file already uses.
func (e editor) number(name, other string, value int) {
	if e.get(name) == nil && e.get(other) != nil {
		name = other
	}
	if value == 0 {
		e.set(name, nil)
		return
	}
	if old := e.get(name); old == nil || old.Value != fmt.Sprint(value) {
		e.set(name, scalar("!!int", fmt.Sprint(value)))
	}
}

// enabled writes the field if its value differs from the default.
func (e editor) enabled(yes bool) {
	if yes {
		e.set("enabled", nil)
	} else {
		e.set("enabled", scalar("!!bool", "false"))
	}
}

// Named returns the tool lists of a file as written: names and patterns, before they are
// interpreted.
func Named(fields map[string]any) (tools, without []string) {
	return list(fields["tools"]), list(fields["disallowedTools"])
}

// Parse reads the definition of the agent with that name, as Find does. The error says why
// it would be left out.
func Parse(data []byte, name string, p Places) (Agent, []string, error) {
	d, err := definition.Parse(data, name, "file")
	if err != nil {
		return Agent{}, nil, err
	}
	f := finder{Finder: &definition.Finder{}, places: p}
	agent := Agent{Name: d.Name, Description: d.Description, Path: name + ".md", Body: d.Body}
	if !f.equip(&agent, d) {
		why := strings.ReplaceAll(f.Notes[len(f.Notes)-1], "the agent is left out: ", "")
		return Agent{}, nil, errors.New(strings.TrimSuffix(why, "; the agent is left out"))
	}
	return agent, append(d.Warnings, f.Notes...), nil
}

// MayUse reports whether the agent may use a tool for at least some calls.
func (a Agent) MayUse(tool string) bool { return Permits(a.Tools, tool) && !holds(a.Without, tool) }
