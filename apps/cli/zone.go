package cli

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ownZone is the name of the time zone of this machine, or "" if it has none.
func ownZone() string {
	if name := time.Local.String(); name != "Local" && name != "" {
		return name
	}
	target, err := filepath.EvalSymlinks("/etc/localtime")
	if err != nil {
		return zoneFile()
	}
	if _, name, ok := strings.Cut(filepath.ToSlash(target), "/zoneinfo/"); ok {
		return known(name)
	}
	return zoneFile()
}

// zoneFile reads the name where /etc/localtime is no link.
func zoneFile() string {
	text, err := os.ReadFile("/etc/timezone")
	if err != nil {
		if _, offset := time.Now().Zone(); offset == 0 {
			return "UTC"
		}
		return ""
	}
	return known(strings.TrimSpace(string(text)))
}

func known(name string) string {
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}
