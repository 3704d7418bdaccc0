package store

import (
	"os"
	"path/filepath"
	"time"
)

// ThisProcess is the Holder of what this process opens.
func ThisProcess() Holder {
	host, _ := os.Hostname() // "" is left out of messages
	return Holder{PID: os.Getpid(), Program: filepath.Base(os.Args[0]), Host: host, Since: time.Now().UTC().Truncate(time.Second)}
}
