package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

func stamp(id string) session.Stamp {
	return session.Stamp{ID: id, Timestamp: "2026-01-02T03:04:07.000Z"}
}

func TestWriterRefuses(t *testing.T) {
	w := session.NewWriter(session.NewTree(nil))
	must := func(line json.RawMessage, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.Message(stamp("a"), json.RawMessage(`{"role":"user","content":"x"}`)))
	must(w.Custom(stamp("b"), "x", nil))
	must(w.Message(stamp("c"), json.RawMessage(`{"role":"user","content":"other"}`)))
	if err := w.Tree().Branch("b"); err != nil {
		t.Fatal(err)
	}
	before := len(w.Tree().Entries())
	text := json.RawMessage(`"y"`)
	for name, c := range map[string]struct {
		call func() (json.RawMessage, error)
		want error
	}{
		"an id twice":         {func() (json.RawMessage, error) { return w.ModelChange(stamp("a"), "p", "m") }, session.ErrTaken},
		"no id":               {func() (json.RawMessage, error) { return w.ModelChange(stamp(""), "p", "m") }, session.ErrTaken},
		"no object":           {func() (json.RawMessage, error) { return w.Message(stamp("z"), json.RawMessage(`7`)) }, session.ErrNotObject},
		"no JSON":             {func() (json.RawMessage, error) { return w.Message(stamp("z"), json.RawMessage(`{"role":`)) }, session.ErrNotJSON},
		"label of none":       {func() (json.RawMessage, error) { return w.Label(stamp("z"), "nobody", nil) }, session.ErrNoEntry},
		"edit of none":        {func() (json.RawMessage, error) { return w.ContextEdit(stamp("z"), "nobody", text) }, session.ErrNoEntry},
		"edit of state":       {func() (json.RawMessage, error) { return w.ContextEdit(stamp("z"), "b", text) }, session.ErrNotEditable},
		"edit of a branch":    {func() (json.RawMessage, error) { return w.ContextEdit(stamp("z"), "c", text) }, session.ErrNotEditable},
		"summary at none":     {func() (json.RawMessage, error) { return w.BranchSummary(stamp("z"), "nobody", session.BranchSummary{}) }, session.ErrNoEntry},
		"summary id is taken": {func() (json.RawMessage, error) { return w.BranchSummary(stamp("a"), "a", session.BranchSummary{}) }, session.ErrTaken},
	} {
		if line, err := c.call(); !errors.Is(err, c.want) {
			t.Errorf("%s: %s, %v", name, line, err)
		}
		if len(w.Tree().Entries()) != before || w.Tree().Leaf() != "b" {
			t.Fatalf("%s: it changed the tree", name)
		}
	}
}

func TestWriterLines(t *testing.T) {
	w := session.NewWriter(file(t, `{"type":"message","id":"s1","parentId":null,"message":{"role":"system","content":"base","sections":{"a":"1","b":"2"},"toolsAdded":[{"name":"x"},{"name":"y"}]}}`,
		`{"type":"message","id":"s2","parentId":"s1","message":{"role":"system","content":[{"type":"text","text":"more"},{"type":"text","text":"lines"}],"sections":{"a":null,"c":"3","b":"4"},"toolsRemoved":[{"name":"x"}],"toolsAdded":[{"name":"z","n":9007199254740993}]}}`,
		`{"type":"message","id":"as","parentId":"s2","message":{"role":"assistant","content":[]}}`).Tree)
	no := false
	for _, c := range []struct {
		call func() (json.RawMessage, error)
		want string
	}{
		{func() (json.RawMessage, error) { return w.ContextEdit(stamp("1"), "as", json.RawMessage(`"new"`)) },
			`{"type":"context_edit","id":"1","parentId":"as","timestamp":"2026-01-02T03:04:07.000Z","targetId":"as","replacement":{"content":[{"type":"text","text":"new"}]}}`},
		{func() (json.RawMessage, error) { return w.ContextEdit(stamp("2"), "as", nil) },
			`{"type":"context_edit","id":"2","parentId":"1","timestamp":"2026-01-02T03:04:07.000Z","targetId":"as","replacement":null}`},
		{func() (json.RawMessage, error) {
			return w.Compaction(stamp("3"), session.Compaction{Summary: "S\u2028", TokensBefore: 7, FromHook: &no})
		},
			`{"type":"compaction","id":"3","parentId":"2","timestamp":"2026-01-02T03:04:07.000Z","summary":"S` + "\u2028" + `","firstKeptEntryId":"3","tokensBefore":7,"fromHook":false,` +
				`"systemMessage":{"role":"system","content":"base\n\nmore\nlines","sections":{"b":"4","c":"3"},"toolsAdded":[{"name":"y"},{"name":"z","n":9007199254740993}],"timestamp":1767323047000}}`},
		{func() (json.RawMessage, error) { return w.SessionInfo(stamp("4"), " a\r\n\nb\n ") },
			`{"type":"session_info","id":"4","parentId":"3","timestamp":"2026-01-02T03:04:07.000Z","name":"a b"}`},
		{func() (json.RawMessage, error) {
			s := stamp("5")
			s.Extra = json.RawMessage(`{"seq":9,"clientId":"cli_x"}`)
			return w.Message(s, json.RawMessage("{\n \"role\": \"user\",\n \"content\": \"\\ud800\", \"n\": 1.0}"))
		}, `{"type":"message","id":"5","parentId":"4","timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":"\ud800","n":1.0},"seq":9,"clientId":"cli_x"}`},
		{func() (json.RawMessage, error) {
			return w.BranchSummary(stamp("6"), "as", session.BranchSummary{Summary: "left"})
		}, `{"type":"branch_summary","id":"6","parentId":"as","timestamp":"2026-01-02T03:04:07.000Z","fromId":"5","summary":"left"}`},
	} {
		if line, err := c.call(); err != nil || string(line) != c.want {
			t.Errorf("%s\nwant\n%s (%v)", line, c.want, err)
		}
	}
	if w.Tree().Name() != "a b" || w.Tree().Leaf() != "6" {
		t.Errorf("name %q, leaf %s", w.Tree().Name(), w.Tree().Leaf())
	}
}

// FuzzReadFile reads anything: no panic, no hang, and what is said of it is JSON.
func FuzzReadFile(f *testing.F) {
	for _, name := range piFiles(f) {
		f.Add(read(f, name+".jsonl"))
	}
	f.Add([]byte(header + "\n42\n{}\n" + said("a", "b", "x") + "\n" + said("b", "a", "y") + "\n" + said("a", "a", "z")))
	f.Add([]byte(`{"type":"session","id":"s"}` + "\n" + `{"type":"compaction","firstKeptEntryIndex":1,"summary":"s"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := session.ReadFile(data)
		if err != nil {
			return
		}
		leaves := []string{""}
		for _, e := range file.Tree.Entries() {
			if len(leaves) < 8 && e.ID != "" {
				leaves = append(leaves, e.ID)
			}
		}
		for _, leaf := range leaves {
			in, err := file.Inspect(leaf)
			if err != nil {
				t.Fatalf("%q: %v", leaf, err)
			}
			if !json.Valid(in.JSON()) && strings.Count(string(data), "[") < 5000 {
				t.Fatalf("%q: %s is not JSON", leaf, in.JSON())
			}
		}
		if again, err := session.ReadFile(file.Bytes()); err != nil || len(again.Tree.Entries()) != len(file.Tree.Entries()) {
			t.Fatalf("written again it reads otherwise: %v", err)
		}
	})
}

// FuzzContext builds contexts of entries of one letter: id, parent, type, target.
func FuzzContext(f *testing.F) {
	f.Add("a mabamacbcabdcea")
	f.Add("abmabame")
	f.Fuzz(func(t *testing.T, text string) {
		types := map[byte]string{
			'm': `"type":"message","message":{"role":"user","content":"x"}`, 's': `"type":"message","message":{"role":"system"}`,
			'c': `"type":"compaction","summary":"S","firstKeptEntryId":"%"`, 'e': `"type":"context_edit","targetId":"%","replacement":null`,
			'b': `"type":"branch_summary","summary":"B"`, 'l': `"type":"label","targetId":"%","label":"L"`,
		}
		tree := session.NewTree(nil)
		for ; len(text) >= 4; text = text[4:] {
			rest, ok := types[text[2]]
			if !ok || text[0] < 'a' || text[0] > 'z' {
				continue
			}
			parent := `null`
			if text[1] >= 'a' && text[1] <= 'z' {
				parent = `"` + text[1:2] + `"`
			}
			target := strings.Map(func(r rune) rune { return 'a' + r&15 }, text[3:4])
			e, err := session.ParseEntry([]byte(`{"id":"` + text[:1] + `","parentId":` + parent + `,` + strings.ReplaceAll(rest, "%", target) + `}`))
			if err != nil {
				t.Fatal(err)
			}
			tree.Add(e)
		}
		context := tree.LeafContext()
		if _, err := tree.Path(tree.Leaf()); (err == nil) != (context.Hole == nil) {
			t.Errorf("the path says %v, the context %v", err, context.Hole)
		}
		if len(context.Messages) > 2*len(tree.Entries()) || len(context.Messages) != len(context.Sources) {
			t.Errorf("%d messages of %d sources", len(context.Messages), len(context.Sources))
		}
		tree.Forest()
	})
}
