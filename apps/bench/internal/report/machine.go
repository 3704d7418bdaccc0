package report

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// ThisMachine describes where the program runs. What cannot be read stays empty.
func ThisMachine() Machine {
	m := Machine{CPUs: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version()}
	m.Kernel = series(firstField("/proc/sys/kernel/osrelease"))
	m.Load = firstField("/proc/loadavg")
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		var kib int64
		if _, err := fmt.Sscanf(string(text), "MemTotal: %d kB", &kib); err == nil {
			m.Memory = kib << 10
		}
	}
	return m
}

func firstField(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.Fields(string(text) + " ?")[0]
}

// series is the first two numbers of a version.
func series(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}
