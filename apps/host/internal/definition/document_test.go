package definition_test

import (
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/definition"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name, text    string
		want          definition.Document // Body and Warnings are compared separately
		warning, fail string
	}{
		{name: "plain", text: "---\nname: pdf\ndescription: Reads PDFs.\nlicense: MIT\nmetadata:\n  a: b\n---\nBody\n", want: definition.Document{Name: "pdf", Description: "Reads PDFs."}},
		{name: "windows", text: "\uFEFF---\r\nname: pdf\r\ndescription: Reads.\r\n---\r\nBody\r\n", want: definition.Document{Name: "pdf", Description: "Reads."}},
		{name: "manual", text: "---\nname: pdf\ndescription: d\ndisable-model-invocation: true\n---\nBody", want: definition.Document{Name: "pdf", Description: "d", Manual: true}},
		{name: "colon in a value", text: "---\nname: pdf\ndescription: Use when: it's a PDF\n---\nBody", want: definition.Document{Name: "pdf", Description: "Use when: it's a PDF"}, warning: "not valid YAML"},
		{name: "block text", text: "---\nname: pdf\ndescription: >\n  one\n  two\n---\nBody", want: definition.Document{Name: "pdf", Description: "one two"}},
		{name: "no name", text: "---\ndescription: d\n---\nBody", want: definition.Document{Name: "pdf", Description: "d"}, warning: "has no name"},
		{name: "bad name", text: "---\nname: My PDF__Tool\ndescription: d\n---\nBody", want: definition.Document{Name: "my-pdf-tool", Description: "d"}, warning: "my-pdf-tool is used instead"},
		{name: "other name", text: "---\nname: other\ndescription: d\n---\nBody", want: definition.Document{Name: "other", Description: "d"}, warning: "differs from the name of its folder"},
		{name: "number as name", text: "---\nname: 7\ndescription: d\n---\nBody", want: definition.Document{Name: "7", Description: "d"}, warning: "differs from the name of its folder"},
		{name: "long description", text: "---\nname: pdf\ndescription: " + strings.Repeat("ä", 2000) + "\n---\nBody", want: definition.Document{Name: "pdf", Description: strings.Repeat("ä", 1024)}, warning: "cut to 1024"},
		{name: "no description", text: "---\nname: pdf\n---\nBody", fail: "no description"},
		{name: "empty front matter", text: "---\n---\nBody", fail: "no description"},
		{name: "no front matter", text: "# Title\n", fail: "does not begin with"},
		{name: "no end", text: "---\nname: pdf\n", fail: "no closing --- line"},
		{name: "broken", text: "---\nname: [a\n  b: {\n---\nBody", fail: "is not valid YAML"},
		{name: "nothing to name", text: "---\nname: ???\ndescription: d\n---\nBody", fail: "no valid characters"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := definition.Parse([]byte(c.text), "pdf", "folder")
			if c.fail != "" {
				if err == nil || !strings.Contains(err.Error(), c.fail) {
					t.Errorf("error %v, want one with %q", err, c.fail)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if warnings := strings.Join(got.Warnings, "\n"); (warnings == "") != (c.warning == "") || !strings.Contains(warnings, c.warning) {
				t.Errorf("warnings %q, want %q", warnings, c.warning)
			}
			if got.Name != c.want.Name || got.Description != c.want.Description || got.Manual != c.want.Manual || got.Body != "Body" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: pdf\ndescription: Use when: x\n---\nBody")
	f.Add("---\n---\n---\n")
	f.Add("---\na: &a [*a]\ndescription: '\n---")
	f.Add("---\ndescription: |\n  x\nname: ä\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := definition.Parse([]byte(text), "holder", "folder")
		if err != nil {
			return
		}
		if d.Name == "" || len(d.Name) > 64 || strings.ContainsAny(d.Name, "/\\ \n<>\"") {
			t.Errorf("the name is %q", d.Name)
		}
		if d.Description == "" || strings.ContainsAny(d.Description, "\n\x1b") {
			t.Errorf("the description is %q", d.Description)
		}
	})
}
