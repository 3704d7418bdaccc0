package state_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/state"
)

func TestCrew(t *testing.T) {
	config, err := load(t, "")
	if err != nil || !config.Crew.Enabled || config.Crew.MaxConcurrent != 3 {
		t.Errorf("by default: %+v %v", config.Crew, err)
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
	want := state.Crew{
		Enabled: true, MaxConcurrent: 5, Presets: []string{"explore", "review"}, Tools: []string{"grep", "read_file"},
		Agents: map[string]state.CrewAgent{
			"explore": {Enabled: true, MaxConcurrent: 2}, "general": {MaxConcurrent: 5, Tools: []string{"grep"}},
		},
	}
	if err != nil || !reflect.DeepEqual(config.Crew, want) {
		t.Errorf("got %+v %v, want %+v", config.Crew, err, want)
	}
}

func TestCrewErrors(t *testing.T) {
	for text, want := range map[string]string{
		"[crew]\nmax_concurrent = 0":             "crew.max_concurrent must be between 1 and 16",
		"[crew]\nmax = 1":                        `unknown key "crew.max"; known here are enabled, max_concurrent, presets, tools, agents`,
		"[crew]\ntools = [\"\"]":                 "crew: a name in a list is empty",
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
