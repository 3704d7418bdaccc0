package updater

import (
	"os"
	"path/filepath"
	"regexp"
	"time"
)

// staleAfter is how old a leftover is when no command uses it any more. A command may wait a day
// for the turns of a host.
const staleAfter = 48 * time.Hour

// leftover matches the names of programs that an update or an install script puts beside scorel
// for a while, and nothing that people name.
var leftover = regexp.MustCompile(`^\.scorel-(new|[A-Z2-7]{26}|[0-9a-f]{32})(\.exe)?$`)

// removeStale removes programs that an update left in the folder because it was killed or the
// machine lost its power. It is no failure of an update if that fails.
func removeStale(folder string) {
	entries, _ := os.ReadDir(folder) // the update reports a folder that cannot be used
	for _, entry := range entries {
		if !leftover.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		if info, err := entry.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(folder, entry.Name())) // a program of Windows may still run
		}
	}
}
