package awake

import (
	"os"
	"strconv"
)

// System returns the inhibitor of this system: caffeinate, which ends with this process.
func System() Inhibitor {
	return command{"/usr/bin/caffeinate", "-i", "-w", strconv.Itoa(os.Getpid())}
}
