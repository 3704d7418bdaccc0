package channeltest_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestMemory(t *testing.T) {
	channeltest.Run(t, func(*testing.T) channeltest.Fake { return channeltest.NewMemory().Fake() })
}
