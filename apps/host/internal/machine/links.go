package machine

import (
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
)

// maxLinks bounds links to links that lead to nothing, as the system does.
const maxLinks = 40

// ResolveLinks follows symbolic links as far as the path exists, and as the system does:
// `..` behind a link is above what the link leads to, and a link to nothing is where a
// file would be made. What leads through the folder of a process stays as it is written
// from there on: it is another one for each program.
func ResolveLinks(path string) string {
	left := maxLinks
	return resolveAtMost(path, &left)
}

func resolveAtMost(path string, links *int) string {
	root := filepath.VolumeName(path) + string(filepath.Separator)
	path = strings.TrimRight(path, string(filepath.Separator))
	folder, name := filepath.Split(path) // which shortens nothing
	switch {
	case path == "" || folder == path:
		return root
	case folder == "":
		return path
	}
	folder = resolveAtMost(folder, links)
	if ofProcess.MatchString(folder + "/") {
		return folder + string(filepath.Separator) + name
	}
	switch name {
	case ".":
		return folder
	case "..":
		return filepath.Dir(folder)
	}
	full := filepath.Join(folder, name)
	if ofProcess.MatchString(full + "/") {
		return full
	}
	target, err := os.Readlink(full)
	if err != nil || *links == 0 {
		return full
	}
	*links--
	if !filepath.IsAbs(target) {
		target = folder + string(filepath.Separator) + target
	}
	return resolveAtMost(target, links)
}

// ofProcess is a path in the folder of a process.
var ofProcess = regexp.MustCompile(`^/proc/([0-9]+|self|thread-self)/`)

// existing reports whether a path exists, and whether it is a folder.
func existing(path string) (there, folder bool) {
	info, err := os.Stat(path)
	return err == nil, err == nil && info.IsDir()
}

// homeOf is the home folder of a user of this machine, or "".
func homeOf(name string) string {
	u, err := user.Lookup(name)
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// maxListed bounds the names of a folder that a pattern is looked through for.
const maxListed = 10000

// namesIn lists the names in a folder; complete is false if it has more. A folder that
// cannot be read has none, and is left to its callers.
func namesIn(folder string) (names []string, complete bool) {
	dir, err := os.Open(folder)
	if err != nil {
		return nil, true
	}
	defer dir.Close()
	names, err = dir.Readdirnames(maxListed + 1)
	if len(names) > maxListed {
		return nil, false
	}
	return names, err == nil || len(names) == 0
}
