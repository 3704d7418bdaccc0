package backend_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/backend/fakeagent"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	fakeagent.Main()
	leakcheck.Main(m)
}
