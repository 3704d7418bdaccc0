package subagent

import (
	"slices"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
)

func TestReportLimit(t *testing.T) {
	for _, c := range []struct{ free, n, want int }{
		{-1, 1, 24_000}, {-1, 8, 24_000}, {100_000, 1, 24_000}, {10_000, 1, 20_000}, {10_000, 4, 5_000}, {10_000, 16, 2_000}, {0, 1, 2_000},
	} {
		if got := reportLimit(c.free, c.n); got != c.want {
			t.Errorf("with %d tokens free, each of %d reports may have %d characters, want %d", c.free, c.n, got, c.want)
		}
	}
}

func TestLimitsOfAPreset(t *testing.T) {
	reader := agentdef.Agent{Name: "reader", Tools: []string{"grep", "mcp__docs__*", "read_file"}}
	for name, c := range map[string]struct {
		limits Limits
		ok     bool
		tools  []string
	}{
		"off":                {Limits{}, false, nil},
		"on":                 {Limits{Enabled: true}, true, reader.Tools},
		"another is allowed": {Limits{Enabled: true, Permitted: []string{"general"}}, false, nil},
		"it is turned off":   {Limits{Enabled: true, Agents: map[string]AgentLimits{"reader": {}}}, false, nil},
		"fewer tools":        {Limits{Enabled: true, Tools: []string{"read_file", "bash", "mcp__docs__find"}}, true, []string{"mcp__docs__find", "read_file"}},
		"fewer for this one": {Limits{Enabled: true, Tools: []string{"read_file", "grep"}, Agents: map[string]AgentLimits{"reader": {Enabled: true, Tools: []string{"grep"}}}}, true, []string{"grep"}},
		"no tool is left":    {Limits{Enabled: true, Tools: []string{"bash"}}, true, []string{}},
		"no tools":           {Limits{Enabled: true, Tools: []string{}}, true, []string{}},
		"no tools for it":    {Limits{Enabled: true, Agents: map[string]AgentLimits{"reader": {Enabled: true, Tools: []string{}}}}, true, []string{}},
		"no agents":          {Limits{Enabled: true, Permitted: []string{}}, false, nil},
	} {
		got, ok := c.limits.Allow(reader)
		if ok != c.ok || ok && !slices.Equal(got.Tools, c.tools) {
			t.Errorf("%s: %v with %q, want %v with %q", name, ok, got.Tools, c.ok, c.tools)
		}
	}
}

// TestNoToolsAreTheSameForAll: an empty list removes all tools of an agent, whether its
// definition names tools or not.
func TestNoToolsAreTheSameForAll(t *testing.T) {
	for _, agent := range agentdef.Builtin() {
		got, ok := Limits{Enabled: true, Tools: []string{}}.Allow(agent)
		if !ok || got.Tools == nil || len(got.Tools) > 0 {
			t.Errorf("%s: offered %t with the tools %#v", agent.Name, ok, got.Tools)
		}
	}
}

func TestSlotsAreInOrderAndPerPreset(t *testing.T) {
	s := newSlots(Limits{MaxConcurrent: 2, Agents: map[string]AgentLimits{"slow": {MaxConcurrent: 1}}})
	may := func(tickets ...*ticket) (now []bool) {
		for _, t := range tickets {
			select {
			case <-t.granted:
				now = append(now, true)
			default:
				now = append(now, false)
			}
		}
		return now
	}
	a, b, c, d := s.queue("slow", 0), s.queue("slow", 0), s.queue("fast", 0), s.queue("fast", 0)
	if got := may(a, b, c, d); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Fatalf("at first %v may go", got)
	}
	s.leave(c)
	if got := may(b, d); !slices.Equal(got, []bool{false, true}) {
		t.Fatalf("then %v may go", got)
	}
	s.leave(b) // it gave up
	s.leave(a)
	if e, f := s.queue("slow", 0), s.queue("fast", 0); !slices.Equal(may(e, f), []bool{true, false}) {
		t.Fatalf("at last %v may go", may(e, f))
	}
}
