package main

import (
	"regexp"
	"strings"
	"testing"
)

// TestCommentsAreReadWithoutGo: what a comment says is kept, and no name of Go is.
func TestCommentsAreReadWithoutGo(t *testing.T) {
	keys := map[string]string{"Proof": "proof", "Kind": "kind", "ID": "id", "URL": "url"}
	everywhere := map[string]string{"KindLimit": "limit", "ClaimBinding": "ClaimBinding", "ThinkingLevels": "thinkingLevels"}
	for _, c := range []struct{ self, doc, want string }{
		{"Proof", "Proof is the signature.", "The signature."},
		{"Timeout", "Timeout is, in seconds, how long it takes.", "In seconds, how long it takes."},
		{"Lifted", "Lifted says that no limit applies.", "No limit applies."},
		{"Answer", "Answer answers ClaimBinding. Kind is KindLimit then.", "Answers `ClaimBinding`. `kind` is `limit` then."},
		{"Rules", "Rules apply from here on, as Proof does.", "`Rules` apply from here on, as `proof` does."},
		{"Mode", "Mode is allow_once or another.", "allow_once or another."},
		{"Level", "Level is the nearest of Model.ThinkingLevels.", "The nearest of `Model.thinkingLevels`."},
		{"Page", "the URL of wire.Kind, not `Kind`", "the URL of wire.Kind, not `Kind`"},
		{"RequestID", "of the request", "of the request"},
		{"Nothing", "", ""},
	} {
		if got := readable(c.doc, c.self, keys, everywhere); got != c.want {
			t.Errorf("%q became %q, want %q", c.doc, got, c.want)
		}
	}
}

// TestResponsesNameTheirRequest: comments of a response name the fields of both as on the wire.
func TestResponsesNameTheirRequest(t *testing.T) {
	s := &source{keys: map[string]map[string]string{"FindRequest": {"After": "after", "ID": "of"}, "FindResponse": {"ID": "id"}}}
	keys := s.keysAround("FindResponse")
	if keys["After"] != "after" || keys["ID"] != "id" || s.keysAround("FindRequest")["ID"] != "of" {
		t.Errorf("keys %v", keys)
	}
}

// TestReferencesHaveNoNamesOfGo: no sentence of a reference begins with the name that its section
// or row is about, and none names a field as Go does.
func TestReferencesHaveNoNamesOfGo(t *testing.T) {
	references, err := generateReferences("../..")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`[^`]*`")
	names := regexp.MustCompile(`\b(Kind|Custom|Max)[A-Z]\w+|\b[A-Z]\w*[a-z](ID|Key|At|Seq)\b`)
	for name, text := range references {
		heading := ""
		for line := range strings.Lines(string(text)) {
			if rest, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " `"); ok && line[0] == '#' {
				heading, _, _ = strings.Cut(rest, "`")
			}
			if heading != "" && strings.HasPrefix(line, heading+" ") {
				t.Errorf("%s: %s", name, line)
			}
			for _, found := range names.FindAllString(code.ReplaceAllString(line, ""), -1) {
				t.Errorf("%s: %s in %s", name, found, line)
			}
		}
	}
}
