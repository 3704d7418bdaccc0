package session_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// operation is one call by which Pi wrote a fixture.
type operation struct {
	Op        string            `json:"op"`
	Args      []json.RawMessage `json:"args"`
	LeafAfter *string           `json:"leafAfter"`
	Bytes     int               `json:"fileBytesAfter"`
	Header    *session.Header   `json:"header"`
	Entry     *struct {
		ID        string  `json:"id"`
		ParentID  *string `json:"parentId"`
		Timestamp string  `json:"timestamp"`
	} `json:"entry"`
}

type opsFile struct {
	Pi  string      `json:"pi"`
	Cwd string      `json:"cwd"`
	Ops []operation `json:"ops"`
}

// TestReplay makes every fixture again from the calls that made it: the bytes are
// Pi's, and so is their number after each call, once Pi has begun to write.
func TestReplay(t *testing.T) {
	names, err := filepath.Glob("testdata/pi/*.ops.json")
	if err != nil || len(names) < 16 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	for _, path := range names {
		name := strings.TrimSuffix(filepath.Base(path), ".ops.json")
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var ops opsFile
			if err := json.Unmarshal(data, &ops); err != nil {
				t.Fatal(err)
			}
			r := replay{t: t, pi: ops.Pi, w: session.NewWriter(session.NewTree(nil))}
			for _, op := range ops.Ops {
				r.do(op)
			}
			if want := read(t, name+".jsonl"); !bytes.Equal(r.file, want) {
				t.Errorf("replayed\n%s\nwant\n%s", r.file, want)
			}
		})
	}
}

type replay struct {
	t    *testing.T
	pi   string
	w    *session.Writer
	file []byte
}

func (r *replay) do(op operation) {
	r.t.Helper()
	line, err := r.call(op)
	if err != nil {
		r.t.Fatalf("%s: %v", op.Op, err)
	}
	if line != nil {
		r.file = append(append(r.file, line...), '\n')
	}
	if leaf := r.w.Tree().Leaf(); leaf != value(op.LeafAfter) {
		r.t.Errorf("%s: the leaf is %q, want %q", op.Op, leaf, value(op.LeafAfter))
	}
	// Pi writes nothing before the first message; we write at once.
	if op.Bytes >= 0 && op.Bytes != len(r.file) {
		r.t.Errorf("%s: %d bytes, want %d", op.Op, len(r.file), op.Bytes)
	}
}

func (r *replay) call(op operation) (json.RawMessage, error) {
	var s session.Stamp
	if op.Entry != nil {
		s.ID, s.Timestamp = op.Entry.ID, op.Entry.Timestamp
	}
	a := arguments{r.t, op.Args}
	switch op.Op {
	case "newSession", "open(existing empty file)":
		h := *op.Header
		h.Version = session.Version
		return session.EncodeHeader(h)
	case "branch":
		return nil, r.w.Tree().Branch(a.text(0))
	case "resetLeaf":
		return nil, r.w.Tree().Branch("")
	case "appendMessage":
		return r.w.Message(s, a.json(0))
	case "appendModelChange":
		return r.w.ModelChange(s, a.text(0), a.text(1))
	case "appendThinkingLevelChange":
		return r.w.ThinkingLevelChange(s, a.text(0))
	case "appendSessionInfo":
		if r.pi == "0.73.1" { // it keeps line ends in names; 1.5.2 and we do not
			s.Extra, _ = session.Encode(map[string]string{"name": strings.TrimSpace(a.text(0))})
			return r.w.Other(s, session.TypeSessionInfo)
		}
		return r.w.SessionInfo(s, a.text(0))
	case "appendLabelChange":
		return r.w.Label(s, a.text(0), a.optional(1))
	case "appendCustomEntry":
		return r.w.Custom(s, a.text(0), a.jsonOrNull(1))
	case "appendUsage":
		return r.w.Usage(s, a.text(0), a.text(1), a.text(2), a.json(3), a.text(4))
	case "appendCustomMessageEntry":
		return r.w.CustomMessage(s, a.text(0), a.json(1), *a.flag(2), a.jsonOrNull(3))
	}
	return r.summary(op, s, a)
}

func (r *replay) summary(op operation, s session.Stamp, a arguments) (json.RawMessage, error) {
	switch op.Op {
	case "appendCompaction":
		c := session.Compaction{Summary: a.text(0), FirstKeptEntryID: a.text(1), Details: a.json(3), FromHook: a.flag(4), Usage: a.json(5)}
		if err := json.Unmarshal(a.json(2), &c.TokensBefore); err != nil {
			return nil, err
		}
		return r.w.Compaction(s, c)
	case "branchWithSummary":
		b := session.BranchSummary{Summary: a.text(1), Details: a.json(2), FromHook: a.flag(3), Usage: a.json(4)}
		if r.pi == "0.73.1" { // it names the branch point; 1.5.2 and we name the leaf that was left
			if b.FromID = a.text(0); b.FromID == "" {
				b.FromID = "root"
			}
		}
		return r.w.BranchSummary(s, a.text(0), b)
	}
	r.t.Fatalf("the operation %s is not known", op.Op)
	return nil, nil
}

// arguments reads the arguments of a call; null and those left out are undefined.
type arguments struct {
	t    *testing.T
	list []json.RawMessage
}

func (a arguments) json(i int) json.RawMessage {
	a.t.Helper()
	if i >= len(a.list) || string(a.list[i]) == "null" {
		return nil
	}
	return a.jsonOrNull(i)
}

// jsonOrNull takes null for the value null.
func (a arguments) jsonOrNull(i int) json.RawMessage {
	a.t.Helper()
	if i >= len(a.list) {
		return nil
	}
	text, err := session.Stringify(a.list[i])
	if err != nil {
		a.t.Fatal(err)
	}
	return text
}

func (a arguments) optional(i int) *string {
	a.t.Helper()
	var text *string
	if raw := a.json(i); raw != nil {
		if err := json.Unmarshal(raw, &text); err != nil {
			a.t.Fatal(err)
		}
	}
	return text
}

func (a arguments) text(i int) string { a.t.Helper(); return value(a.optional(i)) }

func (a arguments) flag(i int) *bool {
	a.t.Helper()
	var flag *bool
	if raw := a.json(i); raw != nil {
		if err := json.Unmarshal(raw, &flag); err != nil {
			a.t.Fatal(err)
		}
	}
	return flag
}

func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
