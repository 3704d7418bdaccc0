package projects

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/packages/protocol/api"
)

// maxFolders bounds a listing.
const maxFolders = 2000

// listFolder lists the folders in a folder; "" is the user's home.
func listFolder(path string) (api.ListDirResponse, error) {
	folder, err := state.Canonical(cmp.Or(path, machine.UserHome()))
	if err != nil {
		return api.ListDirResponse{}, err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return api.ListDirResponse{}, api.Errorf(api.KindInvalidPath, "the folder %s cannot be read: permission denied", folder)
	}
	response := api.ListDirResponse{Path: folder, Entries: []api.DirEntry{}}
	if parent := filepath.Dir(folder); parent != folder {
		response.Parent = parent
	}
	for _, entry := range entries {
		child := filepath.Join(folder, entry.Name())
		if !isFolder(child, entry) {
			continue
		}
		if len(response.Entries) == maxFolders {
			response.Truncated = true
			break
		}
		_, gitErr := os.Lstat(filepath.Join(child, ".git"))
		response.Entries = append(response.Entries, api.DirEntry{
			Name: entry.Name(), Path: child, Hidden: strings.HasPrefix(entry.Name(), "."), Git: gitErr == nil,
		})
	}
	slices.SortFunc(response.Entries, func(a, b api.DirEntry) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return response, nil
}

// isFolder follows a symbolic link, for a project may well be one.
func isFolder(path string, entry os.DirEntry) bool {
	if entry.Type()&os.ModeSymlink == 0 {
		return entry.IsDir()
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
