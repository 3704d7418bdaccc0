// Package gitrepo reads git repositories for people, commits to them, compares a folder with
// an earlier state of it, and makes and removes worktrees.
//
// A repository is not trusted: its settings and hooks may name programs, and an agent's
// command may change them at any time. Commands of git that look at files therefore run with
// a git directory of the host's own, a View. It has a copy of the index, the id of the current
// commit, and those settings of the repository that are known to be harmless; git reads
// objects from the repository, and nothing else. Commands that need the repository's own
// directory look at names and ids only. In both, hooks, watchers of files, external diffs,
// text converters, pagers, credential helpers and transports are disabled, and the variables
// GIT_* of the host's environment are not passed on. The user's own settings apply, including
// filters that are defined there.
//
// Output, time and the number of files are bounded.
package gitrepo

import "errors"

// Errors that callers explain to people.
var (
	ErrNoGit       = errors.New("git is not installed on this machine")
	ErrTooSlow     = errors.New("git did not finish in time")
	ErrUnknown     = errors.New("unknown commit")
	ErrMoved       = errors.New("the repository has changed in the meantime")
	ErrBusy        = errors.New("the repository is in use, or an operation such as a merge is not finished")
	ErrFiltered    = errors.New("a filter such as git-lfs applies to the file")
	ErrNoIdentity  = errors.New("git does not know your name and email address")
	ErrElsewhere   = errors.New("the files of the repository are elsewhere")
	ErrNotAFile    = errors.New("it was a link or a separate repository")
	ErrNoFile      = errors.New("exists neither on disk nor in the current commit") // follows its path
	ErrNoCommit    = errors.New("the repository has no commit")
	ErrNothingToDo = errors.New("there is nothing to commit")
)
