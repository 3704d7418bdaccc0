package main

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// variant is one member of a union that is a single struct in Go: the value of its
// tag and its keys. A key is required unless it ends in "?"; "key=T" gives it a
// different TypeScript type.
type variant struct {
	name, doc, tag string
	keys           []string
}

func blockVariants() []variant {
	return []variant{
		{"TextBlock", "", "text", []string{"text", "textSignature?"}},
		{"ThinkingBlock", "", "thinking", []string{"thinking", "thinkingSignature?", "redacted?"}},
		{"ImageBlock", "", "image", []string{"data", "mimeType", "sha256?", "size?", "width?", "height?"}},
		{"ToolCallBlock", "", "toolCall", []string{"id", "name", "arguments", "thoughtSignature?"}},
	}
}

func messageVariants() []variant {
	return []variant{
		{"UserMessage", "Files of other programs may store the content as a plain string.", "user", []string{"content=string | Block[]", "timestamp"}},
		{"AssistantMessage", "", "assistant", []string{"content", "api?", "provider?", "model?", "responseId?", "usage?", "stopReason", "errorMessage?", "timestamp"}},
		{"ToolResultMessage", "", "toolResult", []string{"toolCallId", "toolName", "content", "details?", "isError", "timestamp"}},
	}
}

func incomingVariants() []variant {
	return []variant{
		{"ResponseMessage", "The answer to a request.", api.TypeResponse, []string{"requestId", "result"}},
		{"ErrorMessage", "The refusal of a request.", api.TypeError, []string{"requestId", "kind", "message", "deviceId", "movingTo"}},
		{"EventMessage", "An event.", api.TypeEvent, []string{"event"}},
	}
}

// parseKey parses a key of a variant: NAME, followed by ? if it is optional, and by
// =TYPE if its type differs from the Go field.
func parseKey(spec string) (name string, optional bool, override string) {
	name, override, _ = strings.Cut(spec, "=")
	name, optional = strings.CutSuffix(name, "?")
	return name, optional, override
}

// union writes a struct as a union on tagKey. Every key of the struct must belong
// to a variant, so that a new Go field cannot be forgotten here.
func (g *generator) union(t reflect.Type, tagKey string, variants []variant) error {
	pkg, byKey, used := packageOf(t), map[string]field{}, map[string]bool{tagKey: true}
	for _, f := range g.fieldsOf(t) {
		byKey[f.json] = f
	}
	var names []string
	for _, v := range variants {
		var fields []field
		for _, key := range v.keys {
			name, optional, override := parseKey(key)
			f, ok := byKey[name]
			if !ok {
				return fmt.Errorf("%s has no key %q", t, name)
			}
			f.optional, f.override, used[name] = optional, override, true
			if !optional && f.typ.Kind() == reflect.Pointer {
				f.typ = f.typ.Elem()
			}
			fields = append(fields, f)
		}
		g.iface(pkg, v.name, v.doc, fmt.Sprintf("  %s: %s;\n", tagKey, quote(v.tag)), fields)
		names = append(names, v.name)
	}
	for key := range byKey {
		if !used[key] {
			return fmt.Errorf("the key %q of %s belongs to no variant", key, t)
		}
	}
	g.printf(pkg, "%sexport type %s = %s;\n\n", comment(g.doc(t), ""), t.Name(), strings.Join(names, " | "))
	return nil
}

// typedEntries returns the entries whose fields are known.
func typedEntries() map[session.EntryType]reflect.Type {
	return map[session.EntryType]reflect.Type{
		session.TypeMessage:     reflect.TypeFor[session.MessageEntry](),
		session.TypeModelChange: reflect.TypeFor[session.ModelChangeEntry](),
		session.TypeSessionInfo: reflect.TypeFor[session.SessionInfoEntry](),
		session.TypeCustom:      reflect.TypeFor[session.CustomEntry](),
	}
}

func (g *generator) session() error {
	g.constants("session", nil)
	if err := g.union(reflect.TypeFor[session.Block](), "type", blockVariants()); err != nil {
		return err
	}
	if err := g.union(reflect.TypeFor[session.Message](), "role", messageVariants()); err != nil {
		return err
	}
	g.tagged(reflect.TypeFor[session.Header](), session.TypeSession)
	g.entries()
	for _, t := range []reflect.Type{
		reflect.TypeFor[session.Queue](), reflect.TypeFor[session.ApprovalRecord](), reflect.TypeFor[session.Release](), reflect.TypeFor[session.TurnRecord](), reflect.TypeFor[session.ProcessRecord](),
		reflect.TypeFor[session.LeafRecord](), reflect.TypeFor[session.OmittedRecord](), reflect.TypeFor[session.ModeRecord](), reflect.TypeFor[session.MetaRecord](),
		reflect.TypeFor[session.QuestionRecord](),
		reflect.TypeFor[session.SubagentRecord](), reflect.TypeFor[session.ChildRecord](),
	} {
		g.need(t)
	}
	g.flush()
	return nil
}

// tagged writes a struct whose type field has one value.
func (g *generator) tagged(t reflect.Type, tag session.EntryType) {
	g.done[t] = true
	fields := slices.DeleteFunc(g.fieldsOf(t), func(f field) bool { return f.json == "type" })
	g.iface("session", t.Name(), g.doc(t), fmt.Sprintf("  type: %s;\n", quote(string(tag))), fields)
}

func (g *generator) entries() {
	typed, names, others := typedEntries(), []string{}, []string{}
	for _, c := range g.sources["session"].consts {
		tag := session.EntryType(strings.Trim(literal(c.value), "'"))
		t, known := typed[tag]
		switch {
		case c.typ != "EntryType" || tag == session.TypeSession:
		case known:
			g.tagged(t, tag)
			names = append(names, t.Name())
		default:
			others = append(others, quote(string(tag)))
		}
	}
	g.printf("session", `/**
 * An entry that is only kept and forwarded. One of a type that this version does
 * not know looks like this too, so a switch over entries needs its default.
 */
export interface OtherEntry {
  type: %s;
  id: string;
  parentId: string | null;
  timestamp: string;
  seq?: number;
  clientId?: string;
  [key: string]: unknown;
}

/** Any entry of a session, as it stands on disk. */
export type Entry = %s | OtherEntry;

`, strings.Join(others, " | "), strings.Join(names, " | "))
}
