package hosttest

import (
	"fmt"
	"os"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
)

// FakeAgent makes the program an agent that does what its prompts say, on its standard input
// and output, until its client ends; see package fakeagent.
func FakeAgent(args []string) { fakeagent.Run(os.Stdin, os.Stdout, fakeagent.Parse(args)) }

// AgentMain makes the program the agent that FakeBackend names, if it was started as one, and then
// exits. TestMain calls it first.
func AgentMain() { fakeagent.Main() }

// FakeBackend returns the part of config.toml that makes a test's program the backend fake. The
// flags are those of package fakeagent.
func FakeBackend(program string, flags ...string) string {
	args := make([]string, 0, 1+len(flags))
	for _, arg := range append([]string{fakeagent.Arg}, flags...) {
		args = append(args, fmt.Sprintf("%q", arg))
	}
	return fmt.Sprintf("[backends.fake]\ntype = \"acp\"\ncommand = %q\nargs = [%s]\n", program, strings.Join(args, ", "))
}
