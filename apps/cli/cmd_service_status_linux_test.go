package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/scorel/scorel/apps/cli/internal/service"
)

// TestTheLogOfASystemService: root asks, whose own home is another one than that of the service's user.
func TestTheLogOfASystemService(t *testing.T) {
	programs, home := t.TempDir(), t.TempDir()
	script := "#!/bin/sh\necho LoadState=loaded\necho ActiveState=active\necho MainPID=7\necho WorkingDirectory=/home/ada/.scorel\n"
	if err := os.WriteFile(filepath.Join(programs, "systemctl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", programs+string(os.PathListSeparator)+os.Getenv("PATH"))
	env := &environment{homeFlag: home, getenv: func(string) string { return "" }}
	for system, want := range map[bool]string{true: "/home/ada/.scorel/host.log", false: filepath.Join(home, "host.log")} {
		id := service.ID{Role: service.Host, System: system}
		manager, err := service.Find(system)
		if err != nil {
			t.Fatal(err)
		}
		shown, err := describeService(t.Context(), env, manager, id)
		if err != nil || shown.Log != want {
			t.Errorf("system %v: the log is %q, %v", system, shown.Log, err)
		}
		if path, err := logPath(t.Context(), env, logsFlags{system: system}, []string{"host"}); err != nil || path != want {
			t.Errorf("system %v: `scorel logs` reads %q, %v", system, path, err)
		}
	}
}
