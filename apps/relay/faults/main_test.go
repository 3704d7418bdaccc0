//go:build unix

package faults_test

import (
	"testing"

	"github.com/scorel/scorel/apps/relay/relaytest/nodetest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	nodetest.Main()
	leakcheck.Main(m)
}
