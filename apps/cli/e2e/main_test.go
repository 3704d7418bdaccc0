//go:build unix

package e2e

import (
	"testing"

	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	nodetest.Main()
	hostMain()
	hosttest.AgentMain()
	leakcheck.Main(m)
}
