package serve

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

const (
	// memoryWithoutWord is the budget where the system does not say what it has.
	memoryWithoutWord = 1 << 30
	memoryLeast       = 64 << 20
)

// defaultMemory is half of what the machine has, or of what its container may use:
// the other half is for the Go runtime, the kernel's socket buffers and the rest.
func defaultMemory() int64 {
	return shareOf(readOrNil("/proc/meminfo"), readOrNil("/sys/fs/cgroup/memory.max"))
}

func readOrNil(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil // another system, or no container
	}
	return data
}

func shareOf(meminfo, container []byte) int64 {
	total := int64(2 * memoryWithoutWord)
	for line := range strings.Lines(string(meminfo)) {
		fields := strings.Fields(line)
		if len(fields) == 3 && fields[0] == "MemTotal:" {
			if kib, err := strconv.ParseInt(fields[1], 10, 64); err == nil && kib > 0 {
				total = kib << 10
			}
		}
	}
	if n, err := strconv.ParseInt(string(bytes.TrimSpace(container)), 10, 64); err == nil && n > 0 { // else it is "max"
		total = min(total, n)
	}
	return max(total/2, memoryLeast)
}
