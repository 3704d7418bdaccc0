//go:build unix

package e2e

import (
	"os"
	"testing"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	nodetest.Main()
	hostMain()
	if len(os.Args) > 1 && os.Args[1] == fakeAgentArg {
		hosttest.FakeAgent(os.Args[2:])
		os.Exit(0)
	}
	leakcheck.Main(m)
}
