package host_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == host.SandboxHelper { // a command in the sandbox of a test
		os.Exit(host.EnterSandbox(os.Args[2:], os.Stderr))
	}
	if serveAsMCP() || serveAsChannel() {
		return
	}
	hosttest.AgentMain()
	if os.Getenv(killedChatEnv) != "" {
		if err := killedChatHost(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	point := os.Getenv(childEnv)
	if point == "" {
		leakcheck.Main(m)
		return
	}
	if err := killedHost(point, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
