package bus_test

import (
	"testing"

	"github.com/scorel/scorel/apps/relay/bus"
	"github.com/scorel/scorel/apps/relay/bus/bustest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestLocal(t *testing.T) {
	bustest.Run(t, func(_ *testing.T, n int) []bus.Bus {
		b := bus.NewLocal()
		out := make([]bus.Bus, n)
		for i := range out {
			out[i] = b
		}
		return out
	})
}
