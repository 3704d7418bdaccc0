package crew

import (
	"fmt"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/preset"
)

// forbidden are the tools that no child has: it cannot delegate, ask people or
// remember.
func forbidden() []string {
	return []string{"delegate_parallel", "delegate_task", "clarify", "memory_recall", "memory_save"}
}

// Bounds of the part of a report that the model of the parent is shown, in
// characters.
const (
	mostReport    = 24_000
	leastReport   = 2_000
	charsPerToken = 4
)

// reportLimit is how many characters of each of n reports are shown: no more than
// fit into half of what is left of the context. freeTokens is -1 where that is not
// known.
func reportLimit(freeTokens, n int) int {
	if freeTokens < 0 {
		return mostReport
	}
	return max(leastReport, min(mostReport, freeTokens*charsPerToken/2/max(n, 1)))
}

// childPrompt follows the system prompt of a child.
func childPrompt(agent preset.Agent, limit int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n# Your part\n\nYou are the agent %q. Another agent works on something larger and gave you one task of it: "+
		"the first message of the conversation, which is all that you know of that work.\n\n", agent.Name)
	for _, line := range []string{
		"Do this task and nothing beyond it.",
		"Nobody answers questions: neither the user nor the other agent reads along for them. Where something is left open, decide, and say in your report what you decided.",
		"You cannot give tasks to other agents, and there is no memory to read or to keep.",
		"You have no more rights than who gave you the task. A call that is refused stays refused: go on without it and report it.",
		"Commands that you leave running in the background end when you do.",
		fmt.Sprintf("Your last message is your report, and all that the other agent gets. Begin with the result. Say what you did, what you found and where, "+
			"and what you could not do. Of a report over %d characters the middle is cut out.", limit),
	} {
		b.WriteString("- " + line + "\n")
	}
	for _, limits := range []struct {
		what  string
		rules []string
	}{{"Of the tools in this list you may make only the calls that it allows", agent.Only}, {"You may not make these calls", agent.Deny}} {
		if len(limits.rules) > 0 {
			b.WriteString("- " + limits.what + ": " + strings.Join(limits.rules, ", ") + ".\n")
		}
	}
	if body := strings.TrimSpace(agent.Body); body != "" {
		b.WriteString("\n" + body + "\n")
	}
	return b.String()
}
