package serve

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

const (
	// memoryWithoutWord is the default limit if the system does not report its
	// memory.
	memoryWithoutWord = 1 << 30
	memoryLeast       = 64 << 20
)

// defaultMemory returns half of the memory of the machine, or of its container's
// limit: the other half is for the Go runtime, the kernel's socket buffers and the
// rest.
func defaultMemory() int64 {
	return shareOf(readOrNil("/proc/meminfo"), readOrNil("/sys/fs/cgroup/memory.max"))
}

func readOrNil(path string) []byte {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil // another operating system, or no container
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
	if n, err := strconv.ParseInt(string(bytes.TrimSpace(container)), 10, 64); err == nil && n > 0 { // otherwise it is "max"
		total = min(total, n)
	}
	return max(total/2, memoryLeast)
}
