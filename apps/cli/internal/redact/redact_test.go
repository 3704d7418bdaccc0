package redact

import (
	"strings"
	"testing"
)

func TestTextLosesWhatIsPrivate(t *testing.T) {
	r := New("/home/ada/.scorel", append(Strings([]byte(`{"clients":[{"label":"Ada's phone","grants":["view"]}],"dev_abcdefghijk":{"path":"/srv/zeppelin"}}`)), "ada", "workshop"))
	for _, private := range []string{
		"sk-ant-api03-abcdefghijklmnop", "/home/ada/code/zeppelin/main.go", `C:\Users\ada\zeppelin`, "https://relay.zeppelin.example/x?token=1",
		"postgres://scorel:hunter2@db/relay", "192.168.17.5", "fd00:1:2:3:4::5", "relay.zeppelin.example", "ada@zeppelin.example", "workshop", "Ada's phone", "dev_abcdefghijk",
		"zeppelin/main.go", "/zeppelin", `zeppelin\src\main.go`, "./zeppelin/x", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl", "/srv/zeppelin",
		`"fix the zeppelin"`, "`rm zeppelin`",
	} {
		got := r.Text("opening " + private + " failed: it is too long")
		if strings.Contains(got, "zeppelin") || strings.Contains(got, "ada") || strings.Contains(got, private) || strings.Contains(got, "hunter2") {
			t.Errorf("%s is left in %q", private, got)
		}
		if !strings.HasPrefix(got, "opening ") || !strings.HasSuffix(got, " failed: it is too long") {
			t.Errorf("too little is left of %q: %q", private, got)
		}
	}
	for text, want := range map[string]string{
		"reading /home/ada/.scorel/index.db: view 3 of 10":              "reading SCOREL_HOME/index.db: view 3 of 10",
		"opening /home/ada/.scorel/sessions/zeppelin/x.jsonl: no space": "opening SCOREL_HOME/sessions: no space",
		"opening /home/ada/.scorel: permission denied":                  "opening SCOREL_HOME: permission denied",
		"HTTP 500 after 3.5s (attempt 2 of 10)":                         "HTTP 500 after 3.5s (attempt 2 of 10)",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}

// TestNamesInsideWords: a short name inside another word is not that name, and a name that is a
// common word identifies nobody. Hidden there, they would damage the report and reveal the name.
func TestNamesInsideWords(t *testing.T) {
	r := New("", []string{"in", "ab", "ada", "阿达", "josé", "sk-ant-api03-x"})
	for text, want := range map[string]string{
		"the whole machine; run it in a terminal": "the whole machine; run it in a terminal",
		"version 89ee5ab5 of ab":                  "version 89ee5ab5 of [name]",
		"adapter, ada's, ada_1, (ada) ada":        "adapter, [name]'s, [name]_1, ([name]) [name]",
		"abab ab-ab":                              "abab [name]-[name]",
		"机器阿达的会话 and joséphine":                   "机器[name]的会话 and [name]phine",
		"keysk-ant-api03-xkey":                    "key[name]key",
	} {
		if got := r.Text(text); got != want {
			t.Errorf("%q became %q, not %q", text, got, want)
		}
	}
}

func FuzzTextLosesWhatIsKnown(f *testing.F) {
	f.Add("a", "b")
	f.Add("/", "/srv/")
	f.Add("\"", "'`")
	f.Fuzz(func(t *testing.T, before, after string) {
		const label = "Zeppelin workshop"
		r := New("/home/ada/.scorel", []string{label, "/srv/zeppelin"})
		if got := r.Text(before + " " + label + " " + after); strings.Contains(got, label) {
			t.Errorf("the label is left in %q", got)
		}
		if got := r.Text(before + "/srv/zeppelin" + after); strings.Contains(got, "/srv/zeppelin") {
			t.Errorf("the path is left in %q", got)
		}
	})
}
