package protocol_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/session"
)

// sessionCase is the entries of a session, and what every projection of them is.
type sessionCase struct {
	Name    string              `json:"name"`
	Entries []json.RawMessage   `json:"entries"`
	Leaf    string              `json:"leaf"`
	Title   string              `json:"title"`
	Roots   []string            `json:"roots"`
	Kids    map[string][]string `json:"children"`
	Labels  [][2]string         `json:"labels"` // target, text; in order
	Paths   map[string][]string `json:"paths"`  // up to a hole
}

func TestVectorsSession(t *testing.T) {
	var content struct {
		Cases []sessionCase `json:"cases"`
	}
	for _, name := range []string{"branch-deep", "branch-summary", "labels", "multi-root", "session-info"} {
		data, err := os.ReadFile(filepath.Join("session", "testdata", "pi", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := session.ReadFile(data)
		if err != nil {
			t.Fatal(err)
		}
		content.Cases = append(content.Cases, project(t, name, f.Tree))
	}
	for i, text := range damagedTrees() {
		var entries []session.Entry
		for line := range strings.Lines(text) {
			e, err := session.ParseEntry([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
		content.Cases = append(content.Cases, project(t, damagedNames()[i], session.NewTree(entries)))
	}
	checkFile(t, "session.json", content)
}

func damagedNames() []string {
	return []string{"orphans and a later parent", "a cycle", "an id twice", "labels come and go", "timestamps that are no dates", "names", "timestamps in other forms"}
}

func damagedTrees() []string {
	entry := func(id, parent, when string) string {
		return `{"type":"custom","customType":"x","id":"` + id + `","parentId":` + parent + `,"timestamp":"` + when + `"}` + "\n"
	}
	label := func(id, target, text string) string {
		return `{"type":"label","id":"` + id + `","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","targetId":"` + target + `"` + text + `}` + "\n"
	}
	day := func(n string) string { return "2026-01-0" + n + "T00:00:00.000Z" }
	return []string{
		entry("b", `"a"`, day("3")) + entry("c", `"a"`, day("2")) + entry("a", "null", day("1")) + entry("o", `"gone"`, day("1")) + entry("p", `"o"`, day("1")),
		entry("a", `"b"`, day("1")) + entry("b", `"a"`, day("1")) + entry("s", `"s"`, day("1")) + entry("c", `"a"`, day("1")),
		entry("a", "null", day("1")) + entry("b", `"a"`, day("1")) + entry("c", "null", day("1")) + entry("b", `"c"`, day("2")),
		entry("a", "null", day("1")) + label("l1", "a", `,"label":"one"`) + label("l2", "l1", `,"label":"two"`) + label("l3", "a", `,"label":"three"`) + label("l4", "a", `,"label":""`) + label("l5", "l2", ``) + label("l6", "a", `,"label":" four "`),
		entry("r", "null", day("1")) + entry("a", `"r"`, day("3")) + entry("b", `"r"`, "soon") + entry("c", `"r"`, day("1")) + entry("d", `"r"`, day("2")),
		`{"type":"session_info","id":"a","parentId":null,"timestamp":"t","name":"first"}` + "\n" + `{"type":"session_info","id":"b","parentId":"a","timestamp":"t","name":" \u00a0second\ufeff "}` + "\n",
		entry("r", "null", day("1")) + entry("a", `"r"`, "2026-01-02T00:00:00+01:00") + entry("b", `"r"`, "Jan 2, 2026") + entry("c", `"r"`, "2026-01-01 03:04:05") + entry("d", `"r"`, "2026-02-30T00:00:00Z") + entry("e", `"r"`, day("1")),
	}
}

func project(t *testing.T, name string, tree *session.Tree) sessionCase {
	t.Helper()
	c := sessionCase{Name: name, Leaf: tree.Leaf(), Title: tree.Name(), Kids: map[string][]string{}, Labels: [][2]string{}, Paths: map[string][]string{}}
	for _, e := range tree.Entries() {
		c.Entries = append(c.Entries, e.Raw)
		path, _ := tree.PathToHole(e.ID)
		ids := []string{}
		for _, on := range path {
			ids = append(ids, on.ID)
		}
		c.Paths[e.ID] = ids
	}
	forest, entries := tree.Forest(), tree.Entries()
	for _, place := range forest.Roots {
		c.Roots = append(c.Roots, entries[place].ID)
	}
	seen := map[int32]bool{}
	for todo := forest.Roots; len(todo) > 0; todo = todo[1:] {
		place := todo[0]
		if seen[place] {
			continue
		}
		seen[place] = true
		for _, child := range forest.Children(place) {
			c.Kids[entries[place].ID] = append(c.Kids[entries[place].ID], entries[child].ID)
		}
		todo = append(todo, forest.Children(place)...)
	}
	for _, l := range tree.Labels() {
		c.Labels = append(c.Labels, [2]string{l.TargetID, l.Text})
	}
	return c
}
