package host

import (
	"os"
	"path/filepath"
	"strings"
)

// maxLinks bounds links to links that lead to nothing, as the system does.
const maxLinks = 40

// resolveLinks follows symbolic links as far as the path exists, and as the system does:
// `..` behind a link is above what the link leads to, and a link to nothing is where a
// file would be made.
func resolveLinks(path string) string { return resolveAtMost(path, maxLinks) }

func resolveAtMost(path string, links int) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
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
	switch name {
	case ".":
		return folder
	case "..":
		return filepath.Dir(folder)
	}
	full := filepath.Join(folder, name)
	target, err := os.Readlink(full)
	if err != nil || links == 0 {
		return full
	}
	if !filepath.IsAbs(target) {
		target = folder + string(filepath.Separator) + target
	}
	return resolveAtMost(target, links-1)
}

// maxListed bounds the names of a folder that a pattern is looked through for.
const maxListed = 10000

// namesIn names what lies in a folder; complete is false when it has more. A folder that
// cannot be read has none, and is left to whoever wants to go there.
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
