package index_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// library is a home whose entries are named in the order in which they are found.
func library(t *testing.T) (x *index.Index, names map[string]string) {
	h := newHome(t)
	x = h.open()
	t.Cleanup(func() { check(t, x.Close()) })
	a, b := h.session("aaaa", "prj_A"), h.session("bbbb", "prj_a")
	call := session.Message{Role: session.RoleAssistant, Content: session.Content{{
		Type: session.BlockToolCall, ID: "c1", Name: "bash", Arguments: json.RawMessage(`{"command":"grep -rn Zugriff src","n":[{"x":"inner"}]}`),
	}}}
	think := session.Message{Role: session.RoleAssistant, Content: session.Content{{Type: session.BlockThinking, Thinking: "secretly musing"}, session.Text("Done: the migration ran.")}}
	names = map[string]string{
		a.say(session.RoleUser, "Please write the database migration for the Café").ID: "prompt",
		a.message(call).ID:  "call",
		a.message(think).ID: "answer",
		a.message(session.Message{Role: session.RoleToolResult, ToolCallID: "c1", Content: session.Content{session.Text("src/a.go:1: zugriff_foo-bar")}}).ID: "result",
		b.say(session.RoleUser, "東京都の天気を教えて。Thai: สวัสดีชาวโลก").ID:                                                                                          "asia",
		b.say(session.RoleAssistant, "a migration of birds over the data base").ID:                                                                           "birds",
	}
	e, err := b.AppendSessionInfo(t.Context(), store.Mark{}, "Weather in Tōkyō")
	check(t, err)
	names[e.ID] = "name"
	x.Touch("aaaa", "prj_A")
	x.Touch("bbbb", "prj_a")
	settle(t, x)
	return x, names
}

func TestSearch(t *testing.T) {
	x, names := library(t)
	for _, test := range []struct {
		query   index.Query
		want    string // what is found, in alphabetical order
		snippet string // of the first hit, with brackets around what was found
	}{
		{query: index.Query{Text: "migration"}, want: "answer birds prompt"},
		{query: index.Query{Text: "MIGRATION database"}, want: "prompt", snippet: "Please write the [database] [migration] for the Café"},
		{query: index.Query{Text: "cafe"}, want: "prompt", snippet: "Please write the database migration for the [Café]"},
		{query: index.Query{Text: `"data base"`}, want: "birds"},
		{query: index.Query{Text: `"base data"`}},
		{query: index.Query{Text: `"migration ran`}, want: "answer"},
		{query: index.Query{Text: "migra*"}, want: "answer birds prompt"},
		{query: index.Query{Text: "migra"}},
		{query: index.Query{Text: "migration -birds"}, want: "answer prompt"},
		{query: index.Query{Text: `migration -"data base" -cafe`}, want: "answer"},
		{query: index.Query{Text: "zugriff"}, want: "call result"},
		{query: index.Query{Text: "inner bash"}, want: "call"},
		{query: index.Query{Text: "foo-bar"}, want: "result"},
		{query: index.Query{Text: "musing"}}, // what a model thinks is not searched
		{query: index.Query{Text: "京都"}, want: "asia"},
		{query: index.Query{Text: "天気"}, want: "asia", snippet: "東京都の[天気]を教えて。Thai: สวัสดีชาวโลก"},
		{query: index.Query{Text: "都京"}},
		{query: index.Query{Text: "ชาว"}, want: "asia"},
		{query: index.Query{Text: "tokyo"}, want: "name"},
		{query: index.Query{Text: "migration", ProjectID: "prj_A"}, want: "answer prompt"},
		{query: index.Query{Text: "migration", ProjectID: "prj_a"}, want: "birds"},
		{query: index.Query{Text: "migration", ProjectID: "prj"}},
		{query: index.Query{Text: "migration", Role: "user"}, want: "prompt"},
		{query: index.Query{Text: "zugriff", Role: index.RoleTool}, want: "result"},
		{query: index.Query{Text: "prj"}},
		{query: index.Query{Text: `AND NOT (migration OR near`}},
		{query: index.Query{Text: `text: migration`}},
		{query: index.Query{Text: `!!! migration ??? * - "" "-"`}, want: "answer birds prompt"},
	} {
		hits := search(t, x, test.query)
		var got []string
		for _, hit := range hits {
			got = append(got, names[hit.EntryID])
		}
		if sorted(got) != test.want {
			t.Errorf("%+v: got %q, want %q", test.query, sorted(got), test.want)
		}
		if test.snippet != "" && len(hits) > 0 && strings.TrimSpace(marked(hits[0])) != test.snippet {
			t.Errorf("%+v: snippet %q, want %q", test.query, marked(hits[0]), test.snippet)
		}
	}
}

func TestHitsNameTheirPlace(t *testing.T) {
	x, _ := library(t)
	hits := search(t, x, index.Query{Text: "zugriff", Role: index.RoleTool})
	if len(hits) != 1 {
		t.Fatalf("%d hits", len(hits))
	}
	h := hits[0]
	if h.SessionID != "aaaa" || h.Seq != 4 || h.At != dawn.UnixMilli()+4000 || h.Role != "tool" {
		t.Fatalf("%+v", h)
	}
}

func TestOneSessionDoesNotHideTheOthers(t *testing.T) {
	h := newHome(t)
	x := h.open()
	defer x.Close()
	quiet, loud := h.session("quiet", "prj_1"), h.session("loud", "prj_1")
	quiet.say(session.RoleUser, "needle")
	for range 100 {
		loud.say(session.RoleAssistant, "needle")
	}
	h.touchAll(x)
	hits := search(t, x, index.Query{Text: "needle", Limit: 10})
	if len(hits) != 4 || hits[3].SessionID != "quiet" || hits[0].Seq != 100 || hits[2].Seq != 98 {
		t.Fatalf("%d hits: %v", len(hits), found(hits))
	}
}

// TestSearchPages lists every hit once, whatever fits one page.
func TestSearchPages(t *testing.T) {
	h := newHome(t)
	x := h.open()
	defer x.Close()
	for i := range 7 {
		s := h.session(fmt.Sprint("s", i), "prj_1")
		for range 5 { // two more than are listed
			s.say(session.RoleUser, "needle")
		}
	}
	h.touchAll(x)
	all := search(t, x, index.Query{Text: "needle"})
	if len(all) != 7*3 {
		t.Fatalf("%d hits", len(all))
	}
	for _, size := range []int{1, 4, 7, 20, 21, 50} {
		var pages []index.Hit
		for more := true; more; {
			hits, again, err := x.Search(t.Context(), index.Query{Text: "needle", Limit: size, Skip: len(pages)})
			if err != nil {
				t.Fatal(err)
			}
			if more = again; more && len(hits) != size || len(hits) == 0 {
				t.Fatalf("%d hits after %d, more: %v", len(hits), len(pages), more)
			}
			pages = append(pages, hits...)
		}
		if found(pages) != found(all) {
			t.Errorf("pages of %d: %s, want %s", size, found(pages), found(all))
		}
	}
}

func TestSearchInOneSession(t *testing.T) {
	h := newHome(t)
	x := h.open()
	defer x.Close()
	quiet, loud := h.session("quiet", "prj_1"), h.session("loud", "prj_2")
	for range 20 { // between each other in time
		loud.say(session.RoleAssistant, "needle")
		quiet.say(session.RoleUser, "hay")
		loud.say(session.RoleUser, "Needles and pins")
	}
	quiet.say(session.RoleUser, "needle")
	h.touchAll(x)
	for _, test := range []struct {
		id    string
		query index.Query
		hits  int
		total int
		first uint64
	}{
		{"loud", index.Query{Text: "needle"}, 20, 20, 39},
		{"loud", index.Query{Text: "needle*"}, 40, 40, 40},
		{"loud", index.Query{Text: "needle*", Limit: 7}, 7, 40, 40},
		{"loud", index.Query{Text: "needle*", Role: "user"}, 20, 20, 40},
		{"loud", index.Query{Text: "needle", ProjectID: "prj_1"}, 0, 0, 0},
		{"quiet", index.Query{Text: "needle"}, 1, 1, 21},
		{"none", index.Query{Text: "needle"}, 0, 0, 0},
	} {
		hits, total, err := x.SearchSession(t.Context(), test.id, test.query)
		check(t, err)
		if len(hits) != test.hits || total != test.total {
			t.Errorf("%s %+v: %d hits of %d", test.id, test.query, len(hits), total)
		}
		if len(hits) > 0 && (hits[0].Seq != test.first || hits[0].SessionID != test.id || hits[0].EntryID == "") {
			t.Errorf("%s %+v: %+v", test.id, test.query, hits[0])
		}
	}
	if _, _, err := x.SearchSession(t.Context(), "loud", index.Query{Text: "-needle"}); err == nil {
		t.Error("a search without a required word was accepted")
	}
}

func TestRefusedSearches(t *testing.T) {
	x, _ := library(t)
	for text, kind := range map[string]api.Kind{
		"": api.KindBadRequest, "  ": api.KindBadRequest, "-birds": api.KindBadRequest, `"" * ?!`: api.KindBadRequest,
		strings.Repeat("x", api.MaxQuery+1): api.KindTooLarge, strings.Repeat("x ", 40): api.KindTooLarge,
	} {
		_, _, err := x.Search(t.Context(), index.Query{Text: text})
		var told *api.Error
		if !errors.As(err, &told) || told.Kind != kind {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, _, err := x.Search(t.Context(), index.Query{Text: "a", Role: "robot"}); err == nil {
		t.Error("an unknown role was searched")
	}
}

// FuzzSearch holds that whatever is written is searched for, or refused with a word
// for people, and never gives an error of SQL.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{
		"", "word", `"a phrase"`, "begin*", "-not this", `"`, `""`, `a"b"c`, "* * *", "AND OR NOT NEAR(", "text:x", "{text}:x",
		"^x", "a + b", "x\x00y", "\xff\xfe", "東京*", "-\"", "a*b", "'; DROP TABLE entries; --", "\u200b", "(((((", "ก็",
	} {
		f.Add(seed)
	}
	h := newHome(f)
	x := h.open()
	f.Cleanup(func() { check(f, x.Close()) })
	h.session("aaaa", "prj_1").say(session.RoleUser, "a word, a phrase; 東京 begins x y b c")
	x.Touch("aaaa", "prj_1")
	settle(f, x)
	f.Fuzz(func(t *testing.T, text string) {
		hits, _, err := x.Search(t.Context(), index.Query{Text: text, ProjectID: "prj_1"})
		var told *api.Error
		if err != nil && !errors.As(err, &told) {
			t.Fatalf("%q: %v", text, err)
		}
		for _, hit := range hits {
			if len(hit.Snippet) == 0 {
				t.Fatalf("%q: a hit without a snippet", text)
			}
		}
	})
}
