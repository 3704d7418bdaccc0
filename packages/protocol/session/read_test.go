package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:06.000Z","cwd":"/x"}`

// file reads a file of a version 3 header and lines.
func file(t testing.TB, lines ...string) *session.File {
	t.Helper()
	f, err := session.ReadFile([]byte(header + "\n" + strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func said(id, parent, text string) string {
	if parent != "null" {
		parent = `"` + parent + `"`
	}
	return `{"type":"message","id":"` + id + `","parentId":` + parent + `,"timestamp":"2026-01-02T03:04:07.000Z","message":{"role":"user","content":"` + text + `"}}`
}

func ids(f *session.File) []string {
	list := []string{}
	for _, e := range f.Tree.Entries() {
		list = append(list, e.ID)
	}
	return list
}

func TestReadFileIsNoSession(t *testing.T) {
	for text, want := range map[string]error{
		"":                            session.ErrEmpty,
		"\n\n":                        session.ErrNotSession,
		"hello\n":                     session.ErrNotSession,
		"42\n" + header:               session.ErrNotSession,
		"{}\n" + header:               session.ErrNotSession,
		"[]\n" + header:               session.ErrNotSession,
		`{"type":"session"}`:          session.ErrNotSession,
		`{"type":"session","id":7}`:   session.ErrNotSession,
		"\ufeff" + header:             session.ErrNotSession,
		said("a", "null", "x") + "\n": session.ErrNotSession,
	} {
		if f, err := session.ReadFile([]byte(text)); !errors.Is(err, want) {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
	for _, before := range []string{"", "\n \n", "garbage\n", "null\n", "0\n", "\"\"\n", "\r\n", "\u00a0\n"} {
		if f, err := session.ReadFile([]byte(before + header)); err != nil || f.Header.ID != "s" {
			t.Errorf("after %q: %v", before, err)
		}
	}
}

func TestReadFileDamage(t *testing.T) {
	a, b, c := said("a", "null", "one"), said("b", "a", "two"), said("c", "b", "three")
	for name, check := range map[string]struct {
		lines  []string
		ids    []string
		damage []int
		torn   bool
	}{
		"whole":              {[]string{a, b, c, ""}, []string{"a", "b", "c"}, nil, false},
		"no last line end":   {[]string{a, b, c}, []string{"a", "b", "c"}, nil, false},
		"torn tail":          {[]string{a, b, c[:40]}, []string{"a", "b"}, []int{4}, true},
		"glued line":         {[]string{a, b + c, ""}, []string{"a"}, []int{3}, false},
		"garbage inside":     {[]string{a, "{garbage", b, ""}, []string{"a", "b"}, []int{3}, false},
		"blank lines":        {[]string{a, "", " \t\r", b, ""}, []string{"a", "b"}, nil, false},
		"carriage returns":   {[]string{a + "\r", b + "\r", ""}, []string{"a", "b"}, nil, false},
		"a second header":    {[]string{a, header, b, ""}, []string{"a", "b"}, nil, false},
		"an id twice":        {[]string{a, b, a, ""}, []string{"a", "b", "a"}, nil, false},
		"not objects":        {[]string{a, "42", `"x"`, "[{}]", "true", "null", "0", "false", `""`, ""}, []string{"a", "", "", "", ""}, []int{3, 4, 5, 6, 7, 8, 9, 10}, false},
		"without id or type": {[]string{a, `{}`, `{"id":"z"}`, `{"type":"message"}`, ""}, []string{"a", "", "z", ""}, nil, false},
		"not JSON after all": {[]string{a, `{"a":1,}`, `{"a":01}`, `{"a":"` + "\t" + `"}`, `{"a":"\x"}`, `{"a":1} 2`, ""}, []string{"a"}, []int{3, 4, 5, 6, 7}, false},
	} {
		f := file(t, check.lines...)
		var damage []int
		for _, d := range f.Damage {
			damage = append(damage, d.Line)
		}
		if !slices.Equal(ids(f), check.ids) || !slices.Equal(damage, check.damage) || f.Torn != check.torn {
			t.Errorf("%s: entries %q, damage in %v, torn %v", name, ids(f), f.Damage, f.Torn)
		}
		inspect(t, f, "")
	}
}

func TestReadFileKeepsWhatGoCannotHold(t *testing.T) {
	line := `{"type":"message","id":"\ud800","parentId":null,"timestamp":"t","message":{"role":"user","content":"\udfff half \u2028","n":9007199254740993,"big":1e999}}`
	f := file(t, line, `{"type":"label","id":"l","parentId":"\ud800","timestamp":"t","targetId":"\ud800","label":"\ud83d\ude00\udc00"}`)
	in, err := f.Inspect("")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"entryIds":["\ud800","l"]`, `"parentIds":[null,"\ud800"]`, `"labels":{"\ud800":"😀\udc00"}`, `"roots":["\ud800"]`,
		`"messages":[{"role":"user","content":"\udfff half \u2028","n":9007199254740993,"big":1e999}]`,
	} {
		if !strings.Contains(string(in.JSON()), want) {
			t.Errorf("%s is missing in %s", want, in.JSON())
		}
	}
}

func TestReadFileRepairsText(t *testing.T) {
	for bytes, want := range map[string]string{
		"\xff": "\ufffd", "\xe2\x82": "\ufffd", "\xe2\x82\xff": "\ufffd\ufffd", "\xed\xa0\x80": "\ufffd\ufffd\ufffd",
		"\xf0\x9f\x98": "\ufffd", "\xc0\x80": "\ufffd\ufffd", "\xf5\x80": "\ufffd\ufffd", "ä": "ä", "\xe0\x80": "\ufffd\ufffd", "\xf4\x90": "\ufffd\ufffd",
	} {
		f := file(t, said("a", "null", bytes+"."))
		if m, err := f.Tree.Messages("a"); err != nil || m[0].Content.Plain() != want+"." {
			t.Errorf("%q reads as %q, want %q (%v)", bytes, m[0].Content.Plain(), want, err)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]struct {
		number   int
		migrated bool
		json     string
	}{
		`3`: {3, false, "3"}, `99`: {99, false, "99"}, `"3"`: {3, false, `"3"`}, `"x"`: {3, false, `"x"`}, `null`: {3, true, "3"},
		`1`: {3, true, "3"}, `2`: {3, true, "3"}, `"2"`: {3, false, `"2"`}, `true`: {3, false, "true"}, `[1]`: {3, false, "[1]"}, `0`: {3, true, "3"}, `-1e99`: {3, true, "3"}, `1e99`: {1<<31 - 1, false, "1e99"},
	} {
		f, err := session.ReadFile([]byte(`{"type":"session","id":"s","version":` + version + "}\n" + said("a", "null", "x")))
		if err != nil || f.Header.Version != want.number || f.Migrated != want.migrated {
			t.Errorf("version %s: %+v, %v", version, f.Header, err)
			continue
		}
		if in, _ := f.Inspect(""); !strings.Contains(string(in.JSON()), `"version":`+want.json+`,`) {
			t.Errorf("version %s: %s", version, in.JSON())
		}
	}
}

func TestMigrateVersion1(t *testing.T) {
	message := func(text string) string {
		return `{"type":"message","message":{"role":"hookMessage","content":"` + text + `"}}`
	}
	compaction := func(index string) string {
		return `{"type":"compaction","summary":"s","firstKeptEntryIndex":` + index + `,"tokensBefore":1}`
	}
	// The index counts the header, and no line that does not read.
	for index, want := range map[string]int{"1": 3, "3": 1, "4": 0, "0": 0, "9": 0, "1.5": 0, "-1": 0, "5": 0, `"1"`: 0} {
		text := strings.Join([]string{`{"type":"session","id":"s"}`, message("a"), "garbage", message("b"), message("c"), compaction(index), message("after")}, "\n")
		f, err := session.ReadFile([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		again, _ := session.ReadFile([]byte(text))
		if !slices.Equal(ids(f), ids(again)) {
			t.Errorf("the ids of a file change: %v, %v", ids(f), ids(again))
		}
		context := f.Tree.LeafContext()
		if kept := len(context.Messages) - 2; kept != want { // beside the summary and the message after it
			t.Errorf("index %s keeps %d messages, want %d: %s", index, kept, want, context.Messages)
		}
		if !strings.Contains(string(context.Messages[len(context.Messages)-1]), `"role":"custom"`) {
			t.Errorf("the role is not renamed: %s", context.Messages)
		}
	}
}
