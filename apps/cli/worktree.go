package cli

import (
	"fmt"
	"io"

	"github.com/scorel/scorel/packages/protocol/api"
)

// keptBecause are the reasons to keep a worktree, each as part of a sentence.
var keptBecause = map[api.WorktreeKept]string{
	api.KeptUncommitted: "it has changes that are not committed",
	api.KeptOperation:   "a git operation such as a merge is not finished there, or it is locked",
	api.KeptCommits:     "it has commits that are on no branch",
	api.KeptRepository:  "it contains another repository, such as a submodule",
	api.KeptShared:      "another session works in it",
	api.KeptBusy:        "the session was still working: archive it again when it has finished",
	api.KeptFailed:      "it could not be checked or removed: see the host's log",
}

// noteWorktree says where a session works, if that is a worktree.
func noteWorktree(stderr io.Writer, tree *api.Worktree) {
	if tree != nil && !tree.Removed {
		fmt.Fprintf(stderr, "scorel: worktree %s, branch %s\n", printable(tree.Folder), printable(tree.Branch))
	}
}

// noteLeft says what became of the worktree of a session that was archived or deleted.
func noteLeft(stderr io.Writer, tree *api.Worktree) {
	switch {
	case tree == nil:
	case tree.Removed:
		fmt.Fprintf(stderr, "scorel: the worktree %s was removed; commits stay on the branch %s\n", printable(tree.Folder), printable(tree.Branch))
	case tree.Kept != "":
		why, known := keptBecause[tree.Kept]
		if !known { // of a newer host
			why = printable(string(tree.Kept))
		}
		fmt.Fprintf(stderr, "scorel: the worktree %s was kept: %s\n", printable(tree.Folder), why)
	}
}
