package state

import (
	"maps"
	"slices"
	"sync"
)

// Worktree is a git worktree in which sessions work.
type Worktree struct {
	ID        string `json:"id"` // of the session that it was made for
	ProjectID string `json:"projectId"`
	Project   string `json:"project"` // the project's folder
	Top       string `json:"top"`     // the folder that git made: absolute
	Prefix    string `json:"prefix,omitempty"`
	Branch    string `json:"branch"`
	Base      string `json:"base"` // the commit that it began with
	// Files is the commit whose files are written while it is being added, or "".
	Files string `json:"files,omitempty"`
	// Tip is the last commit of the branch when the worktree was removed.
	Tip   string        `json:"tip,omitempty"`
	State WorktreeState `json:"state"`
	// Doing is what is being done to the folder, or was when the host was killed, or "".
	Doing WorktreeDoing `json:"doing,omitempty"`
	// Kept says why it was not removed with its last session, or is "".
	Kept string `json:"kept,omitempty"`
	// Sessions are the sessions that work in it, by id.
	Sessions map[string]WorktreeUse `json:"sessions"`
}

// WorktreeState is how far a worktree is.
type WorktreeState string

const (
	WorktreeMade    WorktreeState = "made"    // its setup script has not run yet
	WorktreeReady   WorktreeState = "ready"   // in use
	WorktreeRemoved WorktreeState = "removed" // its folder was removed; it can be made again
)

// WorktreeDoing is a change of a worktree's folder that takes several steps.
type WorktreeDoing string

const (
	WorktreeAdding   WorktreeDoing = "adding"   // until the session that it is for is on disk
	WorktreeRemoving WorktreeDoing = "removing" // everything in it is saved
)

// WorktreeUse is how a session uses a worktree.
type WorktreeUse string

const (
	UseActive   WorktreeUse = "active"
	UseArchived WorktreeUse = "archived"
	UseSubagent WorktreeUse = "subagent" // as long as its parent
	UseForking  WorktreeUse = "forking"  // active, once the session is on disk
	UseDeleting WorktreeUse = "deleting" // none, once the session is not on disk any more
)

// Worktrees is the list of the worktrees of a host. Its methods may be called from any
// goroutine.
type Worktrees struct {
	path string

	mu   sync.Mutex
	list []Worktree // elements are replaced, not changed
}

type worktreesState struct {
	Worktrees []Worktree `json:"worktrees"`
}

// LoadWorktrees reads the list from path.
func LoadWorktrees(path string) (*Worktrees, error) {
	var file worktreesState
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Worktrees{path: path, list: file.Worktrees}, nil
}

// List returns all worktrees. The caller does not change them.
func (w *Worktrees) List() []Worktree {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.list)
}

// Of returns the worktree of a session.
func (w *Worktrees) Of(sessionID string) (Worktree, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.list {
		if _, ok := t.Sessions[sessionID]; ok {
			return t, true
		}
	}
	return Worktree{}, false
}

// Change changes the worktree with an id, or adds it. A worktree without sessions is
// forgotten. The change is on disk when it returns.
func (w *Worktrees) Change(id string, change func(*Worktree)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.list)
	i := slices.IndexFunc(list, func(t Worktree) bool { return t.ID == id })
	if i < 0 {
		i = len(list)
		list = append(list, Worktree{ID: id})
	}
	list[i].Sessions = maps.Clone(list[i].Sessions)
	if change(&list[i]); len(list[i].Sessions) == 0 {
		list = slices.Delete(list, i, i+1)
	}
	if err := writeJSON(w.path, worktreesState{list}); err != nil {
		return err
	}
	w.list = list
	return nil
}
