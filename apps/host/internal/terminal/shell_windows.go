package terminal

import (
	"os"
	"os/exec"

	"github.com/scorel/scorel/packages/protocol/api"
)

func start(string, []string, int, int) (*exec.Cmd, *os.File, error) {
	return nil, nil, api.Errorf(api.KindUnavailable, "terminals do not work on Windows yet: to use them, run the host in WSL")
}

func setSize(*os.File, int, int) error { return nil }

func signalName(*os.ProcessState) string { return "" }
