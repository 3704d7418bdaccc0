package hosttest

import (
	"os"

	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
)

// FakeAgent makes the program an agent that does what its prompts say, on its standard input
// and output, until its client ends; see package fakeagent.
func FakeAgent(args []string) { fakeagent.Run(os.Stdin, os.Stdout, fakeagent.Parse(args)) }
