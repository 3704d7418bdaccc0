package agentdef_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
)

func TestWriteKeepsTheRest(t *testing.T) {
	before := "---\n# a comment\nname: a\ndescription: Old # why\ncolor: red\nmaxTurns: 5\ntools: Read, Bash(git log *)\n---\nOld.\n"
	d := agentdef.Draft{Name: "a", Description: "New", Tools: []string{"Read", "Bash(git log *)"}, MaxTurns: 7, Enabled: true, Body: "New body."}
	got, err := agentdef.Write([]byte(before), d)
	want := "---\n# a comment\nname: a\ndescription: New # why\ncolor: red\nmaxTurns: 7\ntools: Read, Bash(git log *)\n---\nNew body.\n"
	if err != nil || string(got) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, want)
	}
	for _, bad := range []string{"no front matter", "---\nname: a\n", "---\ndescription: a: b: c\n---\n", "---\n- a\n---\n"} {
		if got, err := agentdef.Write([]byte(bad), d); err == nil {
			t.Errorf("%q became %q", bad, got)
		}
	}
}

// FuzzWrite: what is written reads back the same, for any text.
func FuzzWrite(f *testing.F) {
	f.Add("Reads: a \"change\" # now", "You\n---\nread.", uint16(3))
	f.Add("- x", "# title", uint16(0))
	f.Add("\x80", "\xff", uint16(161))
	f.Fuzz(func(t *testing.T, description, body string, turns uint16) {
		description = strings.Join(strings.Fields(description), " ")
		d := agentdef.Draft{Name: "a", Description: description, Tools: []string{"read_file"}, Subagents: []string{}, MaxTurns: int(turns)%999 + 2, Enabled: turns%2 == 0, Body: body}
		data, err := agentdef.Write(nil, d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := agentdef.Write(data, d)
		if err != nil || string(again) != string(data) {
			t.Fatalf("%v: written once more it is %q, before %q", err, again, data)
		}
		a, _, err := agentdef.Parse(data, "a", agentdef.Places{})
		if err != nil {
			return // for example without a description
		}
		if a.MaxTurns != d.MaxTurns || a.Disabled == d.Enabled || !reflect.DeepEqual(a.Tools, d.Tools) || !reflect.DeepEqual(a.Subagents, d.Subagents) {
			t.Fatalf("%q reads as %+v", data, a)
		}
	})
}
