package mcp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// offered returns the names given to tools of servers, which are written SERVER/TOOL.
func offered(tools ...string) map[string]string {
	byServer := map[string]*server{}
	var order []*server
	for _, tool := range tools {
		name, remote, _ := strings.Cut(tool, "/")
		s := byServer[name]
		if s == nil {
			s = &server{spec: spec{name: name}}
			byServer[name], order = s, append(order, s)
		}
		s.tools = append(s.tools, &sdk.Tool{Name: remote})
	}
	names := map[string]string{}
	for _, tool := range offer(order) {
		t := tool.(remoteTool)
		names[t.server.spec.name+"/"+t.remote] = t.spec.Name
	}
	return names
}

func TestNames(t *testing.T) {
	long := "s/" + strings.Repeat("long", 30)
	all := []string{"git/status", "a/b__c", "a__b/c", "my.srv/read file", long, long + "er", "x/y"}
	got := offered(all...)
	if got["git/status"] != "mcp__git__status" || got["my.srv/read file"] != "mcp__my_srv__read_file" {
		t.Errorf("plain names: %v", got)
	}
	var names []string
	for _, name := range got {
		names = append(names, name)
		if len(name) > 64 {
			t.Errorf("%s has %d characters", name, len(name))
		}
	}
	slices.Sort(names)
	if len(slices.Compact(names)) != len(all) {
		t.Errorf("names are alike: %v", got)
	}
	if !strings.HasPrefix(got["a/b__c"], "mcp__a__b__c_") || !strings.HasPrefix(got["a__b/c"], "mcp__a__b__c_") {
		t.Errorf("two equal names are both changed: %v", got)
	}
	slices.Reverse(all)
	for tool, name := range offered(all...) {
		if got[tool] != name {
			t.Errorf("%s is %s or %s, as the servers are ordered", tool, got[tool], name)
		}
	}
	// A tool that claims the name of another on purpose does not get it.
	if again := offered("a/b__c", "a__b/c", "a/"+strings.TrimPrefix(got["a__b/c"], "mcp__a__")); len(again) != 2 {
		t.Errorf("a name was taken over: %v", again)
	}
}

func FuzzExpand(f *testing.F) {
	f.Add("${A}-${B:-x}", "v")
	f.Add("${A", "")
	f.Add("$${A:-${B}}", "${A}")
	f.Fuzz(func(t *testing.T, text, value string) {
		d, err := definition{Command: text}.expand(func(string) string { return value }, func(string) bool { return false })
		if err == nil && value == "" && !strings.Contains(text, "${") && d.Command != text {
			t.Errorf("%q became %q", text, d.Command)
		}
		if err != nil && value != "" {
			t.Errorf("%q with a value: %v", text, err)
		}
	})
}

// TestAKeyThatIsWithheldIsNamed: the error says how to pass the key on.
func TestAKeyThatIsWithheldIsNamed(t *testing.T) {
	none := func(string) string { return "" }
	withheld := func(name string) bool { return name == "OPENAI_API_KEY" }
	_, err := definition{Command: "x ${OPENAI_API_KEY} ${OTHER}"}.expand(none, withheld)
	if err == nil || !strings.Contains(err.Error(), "the variable OPENAI_API_KEY,") || !strings.Contains(err.Error(), "environment.pass") {
		t.Errorf("%v", err)
	}
	if _, err = (definition{Command: "x ${OTHER}"}).expand(none, withheld); err == nil || strings.Contains(err.Error(), "environment.pass") {
		t.Errorf("%v", err)
	}
}
