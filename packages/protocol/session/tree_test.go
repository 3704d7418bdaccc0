package session_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

func TestPathsOfDamagedTrees(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		err   error
		id    string
		path  []string
	}{
		"missing parent": {[]string{said("b", "gone", ""), said("x", "b", "")}, session.ErrMissingParent, "gone", []string{"b", "x"}},
		"own parent":     {[]string{said("x", "x", "")}, session.ErrCycle, "x", []string{"x"}},
		"a cycle":        {[]string{said("a", "c", ""), said("b", "a", ""), said("c", "b", ""), said("x", "c", "")}, session.ErrCycle, "c", []string{"a", "b", "c", "x"}},
		"missing leaf":   {nil, session.ErrNoEntry, "x", nil},
		"later parent":   {[]string{said("x", "a", ""), said("a", "null", "")}, nil, "", []string{"a", "x"}},
		"empty parent":   {[]string{said("a", "null", ""), said("x", "", "")}, nil, "", []string{"x"}},
		"the later wins": {[]string{said("a", "null", ""), said("b", "null", ""), said("x", "a", ""), said("x", "b", "")}, nil, "", []string{"b", "x"}},
	} {
		tree := file(t, c.lines...).Tree
		path, err := tree.PathToHole("x")
		var got []string
		for _, e := range path {
			got = append(got, e.ID)
		}
		var why *session.PathError
		if !errors.Is(err, c.err) || !slices.Equal(got, c.path) || errors.As(err, &why) && why.ID != c.id {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if strict, strictErr := tree.Path("x"); !errors.Is(strictErr, c.err) || c.err != nil && strict != nil {
			t.Errorf("%s: the strict path is %v, %v", name, strict, strictErr)
		}
		context, contextErr := tree.Context("x")
		if c.path == nil {
			context.Hole = contextErr
		}
		if !errors.Is(context.Hole, c.err) || len(context.Messages) != len(c.path) || !slices.Equal(context.Sources, c.path) {
			t.Errorf("%s: the context is %s of %v, %v", name, context.Messages, context.Sources, context.Hole)
		}
	}
}

func TestCommonAncestor(t *testing.T) {
	tree := file(t, said("r", "null", ""), said("a", "r", ""), said("b", "a", ""), said("c", "a", ""), said("d", "c", ""), said("other", "null", "")).Tree
	for pair, want := range map[[2]string]string{
		{"b", "d"}: "a", {"d", "b"}: "a", {"d", "c"}: "c", {"c", "c"}: "c", {"d", "r"}: "r", {"d", "other"}: "", {"", "d"}: "",
	} {
		if got, err := tree.CommonAncestor(pair[0], pair[1]); err != nil || got != want {
			t.Errorf("%v: %q, %v", pair, got, err)
		}
	}
	if _, err := tree.CommonAncestor("d", "nobody"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("%v", err)
	}
}

func TestChildrenAndBranch(t *testing.T) {
	tree := file(t, said("b", "a", ""), said("a", "null", ""), said("c", "a", ""), said("b", "a", "again"), said("o", "gone", "")).Tree
	forest := tree.Forest()
	list := func(places []int32) (ids []string) {
		for _, place := range places {
			ids = append(ids, tree.Entries()[place].ID)
		}
		return ids
	}
	a := forest.Roots[0]
	kids := forest.Children(a) // the id that occurs twice is listed twice
	if !slices.Equal(list(kids), []string{"b", "c", "b"}) || kids[0] != kids[2] || len(forest.Children(kids[0])) > 0 {
		t.Errorf("children of a: %v", list(kids))
	}
	if roots := list(forest.Roots); !slices.Equal(roots, []string{"a", "o"}) {
		t.Errorf("roots: %v", roots)
	}
	if err := tree.Branch("nobody"); !errors.Is(err, session.ErrNoEntry) || tree.Leaf() != "o" {
		t.Errorf("%v, leaf %s", err, tree.Leaf())
	}
	if err := tree.Branch("c"); err != nil || tree.Leaf() != "c" {
		t.Errorf("%v, leaf %s", err, tree.Leaf())
	}
	if err := tree.Branch(""); err != nil || tree.Leaf() != "" || len(tree.LeafContext().Messages) != 0 {
		t.Errorf("%v, leaf %q", err, tree.Leaf())
	}
}

func TestChildrenAreSortedByTime(t *testing.T) {
	at := func(id, when string) string {
		return `{"type":"custom","id":"` + id + `","parentId":"r","timestamp":` + when + `}`
	}
	day := func(id, n string) string { return at(id, `"2026-01-0`+n+`T00:00:00.000Z"`) }
	for name, c := range map[string]struct{ lines, want []string }{
		"dated":        {[]string{day("a", "3"), day("b", "1"), day("c", "2"), day("d", "1")}, []string{"b", "d", "c", "a"}},
		"undated":      {[]string{day("a", "3"), at("b", `"x"`), day("c", "1"), day("d", "2")}, []string{"c", "d", "a", "b"}},
		"only undated": {[]string{at("a", `7`), at("b", `null`), at("c", `true`), at("d", `"Jan 2, 2026"`)}, []string{"a", "b", "c", "d"}},
		"falling":      {[]string{day("a", "9"), day("b", "8"), day("c", "7"), at("d", `"?"`), day("e", "1")}, []string{"e", "c", "b", "a", "d"}},
		"absent":       {[]string{day("a", "1"), `{"type":"custom","id":"b","parentId":"r"}`, day("c", "1")}, []string{"a", "c", "b"}},
	} {
		tree := file(t, append([]string{said("r", "null", "")}, c.lines...)...).Tree
		forest := tree.Forest()
		var got []string
		for _, place := range forest.Children(forest.Roots[0]) {
			got = append(got, tree.Entries()[place].ID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestLabelsKeepTheirPlace(t *testing.T) {
	label := func(id, target, text string) string {
		return `{"type":"label","id":"` + id + `","parentId":"a","timestamp":"t` + id + `","targetId":"` + target + `","label":"` + text + `"}`
	}
	tree := file(t, said("a", "null", ""), said("b", "a", ""), label("1", "a", "A"), label("2", "b", "B"), label("3", "a", "A2"), label("4", "gone", "G"), label("5", "b", ""), label("6", "b", "B2")).Tree
	want := []session.Label{{TargetID: "a", Text: "A2", Timestamp: "t3"}, {TargetID: "gone", Text: "G", Timestamp: "t4"}, {TargetID: "b", Text: "B2", Timestamp: "t6"}}
	if got := tree.Labels(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if _, ok := tree.Label("nobody"); ok {
		t.Error("a label of a missing entry")
	}
}
