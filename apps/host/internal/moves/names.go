package moves

import (
	"regexp"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/attached"
)

// The names of files in an archive, which the target checks.
const (
	attachedFolder = "attached"
	processFolder  = "process"
)

var (
	attachedPath = regexp.MustCompile(`^attached/[0-9a-f]{16}/([^/\\\x00]{1,200})$`)
	processPath  = regexp.MustCompile(`^op_[0-9a-f]{16}\.jsonl$`)
)

// attachedName returns the name in the archive of a path in the folder of a session.
func attachedName(path string) (string, bool) {
	match := attachedPath.FindStringSubmatch(path)
	return path, match != nil && attached.CleanName(match[1]) == match[1] && !strings.HasSuffix(path, ".part")
}

// processName returns the name in the archive of a process log.
func processName(path string) (string, bool) {
	return processFolder + "/" + path, processPath.MatchString(path)
}

// unpackedName returns where a file of an archive belongs: the folder, and the path in it.
func unpackedName(name string) (folder, path string, ok bool) {
	if rest, cut := strings.CutPrefix(name, processFolder+"/"); cut {
		_, ok = processName(rest)
		return processFolder, rest, ok
	}
	_, ok = attachedName(name)
	return attachedFolder, name, ok
}
