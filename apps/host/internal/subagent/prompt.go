package subagent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agentdef"
)

// forbidden returns the tools that no subagent has: it cannot delegate, ask people or keep
// memories.
func forbidden() []string {
	return []string{"delegate_parallel", "delegate_task", "clarify", "memory_recall", "memory_save"}
}

// Bounds of the part of a report that the parent's model sees, in characters.
const (
	mostReport    = 24_000
	leastReport   = 2_000
	charsPerToken = 4
)

// reportLimit returns how many characters of each of n reports are shown, so that together
// they take at most half of the remaining context. freeTokens is -1 if that is unknown.
func reportLimit(freeTokens, n int) int {
	if freeTokens < 0 {
		return mostReport
	}
	return max(leastReport, min(mostReport, freeTokens*charsPerToken/2/max(n, 1)))
}

// childPrompt returns the text that follows a subagent's system prompt.
func childPrompt(agent agentdef.Agent, limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n# Your part\n\nYou are the agent %q. Another agent is working on something larger and gave you one part of it: "+
		"the first message of the conversation, which is all that you know about that work.\n\n", agent.Name)
	for _, line := range []string{
		"Do this task and nothing beyond it.",
		"No one answers questions: neither the user nor the other agent is watching. If something is unclear, decide, and say in your report what you decided.",
		"You cannot give tasks to other agents, and you have no memory to read or write.",
		"You have no more permissions than the agent that gave you the task. A call that is refused stays refused: continue without it and report it.",
		"Commands that you leave running in the background end when you do.",
		fmt.Sprintf("Your last message is your report, and it is all that the other agent gets. Begin with the result. Say what you did, what you found and where, "+
			"and what you could not do. If the report is longer than %d characters, its middle is cut out.", limit),
	} {
		b.WriteString("- " + line + "\n")
	}
	for _, limits := range []struct {
		what  string
		rules []string
	}{{"You may use the tools in this list only for the calls that it allows", agent.Only}, {"You may not make these calls", agent.Deny}} {
		if len(limits.rules) > 0 {
			b.WriteString("- " + limits.what + ": " + strings.Join(limits.rules, ", ") + ".\n")
		}
	}
	if body := strings.TrimSpace(agent.Body); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	return b.String()
}

// TaskPrompt returns the text that follows the system prompt for a task, for a report of
// maximum length.
func TaskPrompt(agent agentdef.Agent) string { return childPrompt(agent, mostReport) }

// MayUse reports whether an agent may use a tool for a task.
func MayUse(agent agentdef.Agent, tool string) bool {
	return !slices.Contains(forbidden(), tool) && agent.MayUse(tool)
}
