package subagent_test

import (
	"os"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
	"github.com/scorel/scorel/packages/leakcheck"
)

// fakeArg makes the test's own program the fake agent of another vendor.
const fakeArg = "run-fake-agent"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fakeArg {
		fakeagent.Run(os.Stdin, os.Stdout, fakeagent.Parse(os.Args[2:]))
		os.Exit(0)
	}
	leakcheck.Main(m)
}
