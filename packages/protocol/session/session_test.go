package session_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

func entry(t testing.TB, line string) session.Entry {
	t.Helper()
	e, err := session.ParseEntry([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func user(t testing.TB, id, parent, text string) session.Entry {
	t.Helper()
	line := `{"type":"message","id":"` + id + `","parentId":` + parent + `,"message":{"role":"user","content":"` + text + `"}}`
	return entry(t, line)
}

func TestEntryKeepsItsLine(t *testing.T) {
	for _, line := range []string{
		`{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user","content":"<&>"},"seq":7,"clientId":"cli_x"}`,
		`{ "id" : "b", "type":"from_the_future", "parentId":"a", "big": 12345678901234567890.10, "e": 1e3, "s":"\u003c\/" }`,
	} {
		e := entry(t, line)
		again, err := session.Encode(e)
		var compact, want any
		if err != nil || json.Unmarshal(again, &compact) != nil || json.Unmarshal([]byte(line), &want) != nil {
			t.Fatalf("%s, %v", again, err)
		}
		if string(e.Raw) != line {
			t.Errorf("raw is %s", e.Raw)
		}
		var back session.Entry
		if err := json.Unmarshal(again, &back); err != nil || back.ID != e.ID || back.Type != e.Type || back.ParentID != e.ParentID {
			t.Errorf("%s reads back as %+v, %v", again, back, err)
		}
	}
	// Numbers and escapes are not rewritten on the way.
	e := entry(t, `{"type":"x","id":"a","n":1.50e+3,"s":"\u003c"}`)
	if text, err := session.Encode(e); err != nil || string(text) != string(e.Raw) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestParseEntryRefuses(t *testing.T) {
	for _, line := range []string{
		``, ` `, `null`, `42`, `"x"`, `[]`, `{}`, `{"type":"message"}`, `{"id":"a"}`, `{"type":"","id":"a"}`, `{"type":"message","id":""}`,
		`{"type":"message","id":7}`, `{"type":"message","id":"a","parentId":5}`, `{"type":"message","id":"a"`, `{"type":"message","id":"a"}x`,
	} {
		if e, err := session.ParseEntry([]byte(line)); !errors.Is(err, session.ErrNotEntry) {
			t.Errorf("%s: %+v, %v", line, e, err)
		}
	}
	if _, err := json.Marshal(session.Entry{ID: "a"}); err == nil {
		t.Error("an entry without its line was written")
	}
}

func TestParsedEntryInAListIsIndependentOfTheBuffer(t *testing.T) {
	data := []byte(`[{"type":"label","id":"a"}]`)
	var list []session.Entry
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	for i := range data {
		data[i] = 'x'
	}
	if string(list[0].Raw) != `{"type":"label","id":"a"}` {
		t.Errorf("raw is %s", list[0].Raw)
	}
}

func TestTypedViews(t *testing.T) {
	m := entry(t, `{"type":"message","id":"a","parentId":"p","message":{"role":"assistant","content":[{"type":"text","text":"hi"},{"type":"toolCall","id":"c","name":"bash","arguments":{"b":1,"a":2}}],"stopReason":"toolUse"},"turnId":"t"}`)
	view, ok := m.AsMessage()
	if !ok || view.Message.Content.Plain() != "hi" || view.Message.StopReason != session.StopToolUse || view.TurnID != "t" || *view.ParentID != "p" {
		t.Fatalf("%+v, %v", view, ok)
	}
	calls := view.Message.Content.ToolCalls()
	if len(calls) != 1 || calls[0].Name != "bash" || string(calls[0].Arguments) != `{"b":1,"a":2}` {
		t.Errorf("%+v", calls)
	}
	if _, ok := m.AsCustom(); ok {
		t.Error("a message is seen as custom")
	}
	if _, ok := entry(t, `{"type":"message","id":"a","message":7}`).AsMessage(); ok {
		t.Error("a message that does not decode is seen as one")
	}
	if v, ok := entry(t, `{"type":"model_change","id":"a","provider":"p","modelId":"m"}`).AsModelChange(); !ok || v.ModelID != "m" {
		t.Errorf("%+v, %v", v, ok)
	}
	if v, ok := entry(t, `{"type":"custom","id":"a","customType":"scorel.queue","data":{"items":[]}}`).AsCustom(); !ok || v.CustomType != session.CustomQueue {
		t.Errorf("%+v, %v", v, ok)
	}
}

func TestHeader(t *testing.T) {
	h, err := session.ParseHeader([]byte(`{"type":"session","version":3,"id":"s","timestamp":"t","cwd":"/x","other":1}`))
	if err != nil || h.ID != "s" || h.Version != 3 || h.Cwd != "/x" {
		t.Errorf("%+v, %v", h, err)
	}
	for _, line := range []string{``, `{}`, `{"type":"message","id":"s"}`, `{"type":"session"}`, `{"type":"session","id":7}`, `[]`} {
		if _, err := session.ParseHeader([]byte(line)); err == nil {
			t.Errorf("%s is a header", line)
		}
	}
}

func TestContentForms(t *testing.T) {
	for text, want := range map[string]string{
		`"plain"`: "plain", `""`: "", `null`: "", `[]`: "", `[{"type":"text","text":"a"},{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"text","text":"b"}]`: "ab",
	} {
		var c session.Content
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Plain() != want {
			t.Errorf("%s reads as %q, %v", text, c.Plain(), err)
		}
	}
	for _, text := range []string{`7`, `{}`, `[7]`, `true`} {
		var c session.Content
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s is content", text)
		}
	}
}

func TestBlocksKeepTheirEmptyKeys(t *testing.T) {
	for _, c := range []struct {
		block session.Block
		want  string
	}{
		{session.Text(""), `{"type":"text","text":""}`}, {session.Block{Type: session.BlockThinking}, `{"type":"thinking","thinking":""}`},
		{session.Block{Type: session.BlockToolCall, ID: "c", Name: "ls"}, `{"type":"toolCall","id":"c","name":"ls","arguments":{}}`},
		{session.Text("<&>"), `{"type":"text","text":"<&>"}`},
		{session.Block{Type: session.BlockImage, Data: "AA==", MimeType: "image/png"}, `{"type":"image","data":"AA==","mimeType":"image/png"}`},
	} {
		if text, err := session.Encode(c.block); err != nil || string(text) != c.want {
			t.Errorf("%s, want %s (%v)", text, c.want, err)
		}
	}
	if text, err := session.Encode(session.Message{Role: session.RoleUser}); err != nil || !strings.Contains(string(text), `"content":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestTree(t *testing.T) {
	info := func(id, name string) session.Entry {
		return entry(t, `{"type":"session_info","id":"`+id+`","parentId":"a","name":"`+name+`"}`)
	}
	tree := session.NewTree([]session.Entry{
		user(t, "a", `null`, "one"), user(t, "b", `"a"`, "two"), user(t, "c", `"a"`, "three"), info("n", "first"), info("m", " second "), user(t, "d", `"c"`, "four"),
	})
	if tree.Leaf() != "d" || tree.Name() != "second" || len(tree.Entries()) != 6 {
		t.Errorf("leaf %s, name %q, %d entries", tree.Leaf(), tree.Name(), len(tree.Entries()))
	}
	messages, err := tree.Messages(tree.Leaf())
	if err != nil || len(messages) != 3 || messages[1].Content.Plain() != "three" {
		t.Errorf("%+v, %v", messages, err)
	}
	if path, err := tree.Path(""); err != nil || len(path) != 0 {
		t.Errorf("the empty path is %v, %v", path, err)
	}
	if path, err := tree.Path("b"); err != nil || len(path) != 2 || path[0].ID != "a" {
		t.Errorf("%v, %v", path, err)
	}
}

func TestTreeIsStrict(t *testing.T) {
	for why, c := range map[string]struct {
		entries []session.Entry
		want    error
	}{
		"no leaf":        {nil, session.ErrNoEntry},
		"missing parent": {[]session.Entry{user(t, "x", `"gone"`, "")}, session.ErrMissingParent},
		"own parent":     {[]session.Entry{user(t, "x", `"x"`, "")}, session.ErrCycle},
		"a cycle":        {[]session.Entry{user(t, "y", `"x"`, ""), user(t, "x", `"y"`, "")}, session.ErrCycle},
	} {
		if path, err := session.NewTree(c.entries).Path("x"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", why, path, err)
		}
	}
	twice := session.NewTree([]session.Entry{user(t, "x", `null`, "old"), user(t, "x", `null`, "new")})
	if messages, err := twice.Messages("x"); err != nil || len(messages) != 1 || messages[0].Content.Plain() != "new" {
		t.Errorf("the later of two: %+v, %v", messages, err)
	}
}

func TestFormatTime(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6_999_999, time.FixedZone("x", 3600))
	if got := session.FormatTime(at); got != "2026-01-02T02:04:05.006Z" {
		t.Errorf("%s", got)
	}
}

func FuzzParseEntry(f *testing.F) {
	f.Add([]byte(`{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}`))
	f.Add([]byte(`{"type":"custom","id":"a","parentId":"b","customType":"scorel.turn","data":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		e, err := session.ParseEntry(line)
		if err != nil {
			return
		}
		e.AsMessage()
		e.AsCustom()
		e.AsSessionInfo()
		e.AsModelChange()
		text, err := session.Encode(e)
		if err != nil {
			t.Fatalf("%q parses and does not encode: %v", line, err)
		}
		again, err := session.ParseEntry(text)
		if err != nil || again.ID != e.ID || again.Type != e.Type || again.ParentID != e.ParentID || again.Seq != e.Seq {
			t.Errorf("%q, then %q: %v", line, text, err)
		}
	})
}

// FuzzTree builds trees of one-letter ids: pairs of id and parent.
func FuzzTree(f *testing.F) {
	f.Add("a b a c b")
	f.Add("abba")
	f.Fuzz(func(t *testing.T, text string) {
		var entries []session.Entry
		for i := 0; i+1 < len(text); i += 2 {
			e := session.Entry{Type: session.TypeLabel, ID: text[i : i+1], Raw: []byte(`{}`)}
			if text[i+1] != ' ' {
				e.ParentID = text[i+1 : i+2]
			}
			entries = append(entries, e)
		}
		tree := session.NewTree(entries)
		path, err := tree.Path(tree.Leaf())
		if err != nil {
			return
		}
		if len(path) > len(entries) || len(path) > 0 && (path[0].ParentID != "" || path[len(path)-1].ID != tree.Leaf()) {
			t.Errorf("%q: a path of %d entries", text, len(path))
		}
	})
}

// TestStrictIsWhatParseEntryTakes: what a reader keeps of a damaged file is reported
// apart without a second look.
func TestStrictIsWhatParseEntryTakes(t *testing.T) {
	f := file(t, said("a", "null", "x"), `{}`, `{"type":"x"}`, `{"id":"b"}`, `{"type":"x","id":"c","parentId":7}`, `42`, `"x"`,
		`{"type":"x","id":"d","timestamp":1}`, `{"type":"x","id":"e","timestamp":1,"seq":1}`, `{"type":7,"id":"f"}`,
		`{"type":"x","id":"g","seq":-1}`, `{"type":"x","id":"h","seq":null,"parentId":null}`, `{"type":"x","id":""}`)
	for _, e := range f.Tree.Entries() {
		if _, err := session.ParseEntry(e.Raw); e.Strict() != (err == nil) {
			t.Errorf("%s: strict is %v, ParseEntry says %v", e.Raw, e.Strict(), err)
		}
	}
}
