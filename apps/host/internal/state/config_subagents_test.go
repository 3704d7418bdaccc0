package state_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

func TestSubagents(t *testing.T) {
	config, err := load(t, "")
	if err != nil || !config.Subagents.Enabled || config.Subagents.MaxConcurrent != 3 {
		t.Errorf("by default: %+v %v", config.Subagents, err)
	}
	config, err = load(t, `[crew]
max_concurrent = 5
presets = ["explore", "review"]
tools = ["grep", "read_file"]
[crew.agents.explore]
max_concurrent = 2
[crew.agents.general]
enabled = false
tools = ["grep"]
`)
	want := state.Subagents{
		Enabled: true, MaxConcurrent: 5, Permitted: []string{"explore", "review"}, Tools: []string{"grep", "read_file"},
		Agents: map[string]state.SubagentAgent{
			"explore": {Enabled: true, MaxConcurrent: 2}, "general": {MaxConcurrent: 5, Tools: []string{"grep"}},
		},
	}
	if err != nil || !reflect.DeepEqual(config.Subagents, want) {
		t.Errorf("got %+v %v, want %+v", config.Subagents, err, want)
	}
}

func TestSubagentErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[crew]\nmax_concurrent = 0":             "crew.max_concurrent must be between 1 and 16",
		"[crew]\nmax = 1":                        `unknown key "crew.max"; the keys here are enabled, max_concurrent, presets, tools, backends, agents`,
		"[crew]\ntools = [\"\"]":                 "crew: a list contains an empty name",
		"[crew.agents.x]\nmax_concurrent = 99":   "crew.agents.x.max_concurrent must be between 1 and 16",
		"[crew.agents.x]\nenable = true":         `did you mean "enabled"?`,
		"[crew]\nenabled = \"yes\"":              "crew.enabled",
		"[crew.agents.x]\npresets = [\"other\"]": "unknown key",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestEmptySubagentListsAreNone(t *testing.T) {
	config, err := load(t, "[crew]\npresets = []\ntools = []\n[crew.agents.x]\ntools = []\n[crew.agents.y]\n")
	if err != nil {
		t.Fatal(err)
	}
	subagents := config.Subagents
	for name, list := range map[string][]string{"presets": subagents.Permitted, "tools": subagents.Tools, "tools of x": subagents.Agents["x"].Tools} {
		if list == nil || len(list) > 0 {
			t.Errorf("%s are %#v, want an empty list", name, list)
		}
	}
	if list := subagents.Agents["y"].Tools; list != nil {
		t.Errorf("the tools of y are %#v, want nil", list)
	}
}

func TestPlaces(t *testing.T) {
	config, err := load(t, `label = "x"
[crew]
tools = [
  "grep",
  "gerp",
]
[crew.agents.a]
tools = ["one"]
[crew.agents]
b = { tools = ["two"] }
c.tools = ["three"]
`)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ key, value, want string }{
		{"crew.tools", "gerp", "f:5"}, {"crew.tools", "glob", "f:3"}, {"crew.agents.a", "", "f:7"}, {"crew.agents.a.tools", "one", "f:8"},
		{"crew.agents.b.tools", "two", "f:10"}, {"crew.agents.b", "b", "f:10"}, {"crew.agents.c.tools", "three", "f:11"}, {"label", "x", "f:1"}, {"none", "", "f"},
	} {
		if got := config.Place("f", c.key, c.value); got != c.want {
			t.Errorf("%s %s is at %s, want %s", c.key, c.value, got, c.want)
		}
	}
}
