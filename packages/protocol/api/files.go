package api

// Limits of the requests about files.
const (
	MaxFileEntries = 2000      // entries of one folder, and files of one status, diff or list of changes
	MaxFound       = 50        // files and folders of one answer to find_files
	MaxFilePart    = 256 << 10 // bytes of a file in one answer to read_file
	MaxFileDiff    = 256 << 10 // bytes of the diff of one file
	MaxCommits     = 100       // commits of one answer to git_log
	MaxBranches    = 500       // branches of one answer to git_branches
	MaxCommitPaths = 2000      // files of one commit
	MaxMessage     = 16 << 10  // bytes of the message of a commit
)

// FileKind is the kind of an entry of a folder.
type FileKind string

const (
	FileRegular FileKind = "file"
	FileFolder  FileKind = "folder"
	FileLink    FileKind = "link"  // a symbolic link
	FileOther   FileKind = "other" // a device, pipe or socket
)

// FileStatus is how a file differs from an earlier state.
type FileStatus string

const (
	FileAdded      FileStatus = "added"
	FileModified   FileStatus = "modified"
	FileDeleted    FileStatus = "deleted"
	FileRenamed    FileStatus = "renamed"
	FileConflicted FileStatus = "conflicted" // of a merge that is not finished
	FileUnknown    FileStatus = "unknown"    // a tool changed it, and the host has no earlier state of it
)

// Place names the folder that a request is about: the one that a session works in, or a
// project's. Exactly one is given.
type Place struct {
	SessionID string `json:"sessionId,omitempty" req:"max=256"` // the folder that the session works in
	ProjectID string `json:"projectId,omitempty" req:"max=256"` // the folder of the project
}

// Requests and responses about files. All paths are relative to the folder and use
// slashes. Git's own files, scorel's own files, files that look like secrets, and files
// that a rule closes to read_file are closed: they are listed, and their content is not
// sent.
type (
	ListFilesRequest struct {
		Place
		Path string `json:"path,omitempty" req:"max=4096"` // "" means the folder itself
	}
	ListFilesResponse struct {
		Entries   []FileEntry `json:"entries"` // folders first, then by name
		Truncated bool        `json:"truncated,omitempty"`
	}
	FindFilesRequest struct {
		Place
		// Query has the characters of a path in their order, in any case; "" means the
		// folder itself.
		Query string `json:"query,omitempty" req:"max=256"`
	}
	FindFilesResponse struct {
		Files     []FoundFile `json:"files"` // the best match first, at most MaxFound
		Truncated bool        `json:"truncated,omitempty"`
	}
	ReadFileRequest struct {
		Place
		Path string `json:"path" req:"min=1,max=4096"`
		From int64  `json:"from,omitempty" req:"min=0"` // offset in bytes: Next of the previous answer
		// Raw asks for the bytes of any file in Data, in place of Text. Hosts that do not know
		// the field answer with Text.
		Raw bool `json:"raw,omitempty"`
	}
	ReadFileResponse struct {
		Data   string `json:"data,omitempty"`   // base64, at most MaxFilePart bytes before encoding
		Size   int64  `json:"size"`             // of the whole file, in bytes
		Text   string `json:"text"`             // from From on, at most MaxFilePart bytes
		Binary bool   `json:"binary,omitempty"` // it is not UTF-8 text, and Text is ""
		Next   int64  `json:"next,omitempty"`   // for the next request; 0 at the end
	}
	GitStatusRequest struct {
		Place
	}
	GitStatusResponse struct {
		// Repository is false if the folder is in no repository; all else is empty
		// then.
		Repository bool   `json:"repository"`
		Branch     string `json:"branch,omitempty"`   // "" on a commit without a branch
		Head       string `json:"head,omitempty"`     // commit id; "" before the first commit
		Upstream   string `json:"upstream,omitempty"` // branch that this one follows
		Ahead      int    `json:"ahead,omitempty"`    // commits that upstream lacks
		Behind     int    `json:"behind,omitempty"`   // commits of upstream that are missing here
		// Busy is the operation that is not finished: "merge", "rebase",
		// "cherry-pick", "revert" or "bisect".
		Busy      string    `json:"busy,omitempty"`
		Files     []GitFile `json:"files"`
		Truncated bool      `json:"truncated,omitempty"`
	}
	// GitDiffRequest asks for what is not committed, or for what a commit changed.
	GitDiffRequest struct {
		Place
		Commit string `json:"commit,omitempty" req:"max=64"`
		Path   string `json:"path,omitempty" req:"max=4096"` // only this file, with its diff; "" lists all without
	}
	GitDiffResponse struct {
		Files     []FileChange `json:"files"`
		Truncated bool         `json:"truncated,omitempty"`
	}
	GitLogRequest struct {
		Place
		From  string `json:"from,omitempty" req:"max=64"` // Next of the previous answer; "" means the current commit
		Limit int    `json:"limit,omitempty" req:"min=0"` // at most MaxCommits; 0 means MaxCommits
	}
	GitLogResponse struct {
		Commits []GitCommitInfo `json:"commits"`        // newest first
		Next    string          `json:"next,omitempty"` // for the next request; "" at the end
	}
	GitBranchesRequest struct {
		Place
	}
	GitBranchesResponse struct {
		Branches []GitBranch `json:"branches"` // latest first
	}
	// GitCommitRequest commits the current content of some files, and nothing else.
	GitCommitRequest struct {
		Place
		ClientKey string   `json:"clientKey" req:"min=1,max=64"`
		Head      string   `json:"head" req:"max=64"` // commit id as in git_status; "" before the first commit
		Message   string   `json:"message" req:"min=1,max=16384"`
		Paths     []string `json:"paths" req:"min=1,max=2000"`
	}
	GitCommitResponse struct {
		Commit string `json:"commit"`
	}
	GetChangesRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Path      string `json:"path,omitempty" req:"max=4096"` // only this file, with its diff; "" lists all without
	}
	GetChangesResponse struct {
		// Since is when the host recorded the state that files are compared with,
		// in Unix milliseconds; 0 if it did not.
		Since int64 `json:"since,omitempty"`
		// Reason says why no state was recorded, for people.
		Reason string       `json:"reason,omitempty"`
		Files  []FileChange `json:"files"`
		// Outside are absolute paths of files that the session's tools changed and
		// that are not in the folder.
		Outside []string `json:"outside,omitempty"`
		// Skipped are files and folders of the recorded state that are not
		// compared: they are too large, or repositories of their own.
		Skipped   []string `json:"skipped,omitempty"`
		Truncated bool     `json:"truncated,omitempty"`
	}
	RevertFileRequest struct {
		SessionID string `json:"sessionId" req:"min=1,max=256"`
		Path      string `json:"path" req:"min=1,max=4096"`
		// Version is that of the file in get_changes. The file is not touched if it
		// has changed since.
		Version string `json:"version" req:"max=128"`
	}
)

// FileEntry is an entry of a folder.
type FileEntry struct {
	Name   string   `json:"name"`
	Kind   FileKind `json:"kind"`             // "file", "folder", "link" (a symbolic link) or "other"
	Size   int64    `json:"size,omitempty"`   // of a regular file, in bytes
	Closed bool     `json:"closed,omitempty"` // its content is not sent
}

// FoundFile is a file or folder that find_files found.
type FoundFile struct {
	Path string   `json:"path"`
	Kind FileKind `json:"kind"` // "file", "folder" or "link"
}

// GitFile is a file with uncommitted changes.
type GitFile struct {
	Path   string     `json:"path"`
	From   string     `json:"from,omitempty"` // its earlier path, if it was renamed
	Status FileStatus `json:"status"`         // "added", "modified", "deleted", "renamed" or "conflicted"
	// Staged is true if all or some of the change is in the index.
	Staged bool `json:"staged,omitempty"`
	// Untracked is true for an added file that git does not know yet.
	Untracked bool `json:"untracked,omitempty"`
}

// FileChange is a file that differs from an earlier state.
type FileChange struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // its earlier path, if it was renamed
	// Status is as in GitFile, or "unknown": a tool changed the file, and there is no
	// earlier state of it.
	Status  FileStatus `json:"status"`
	Added   int        `json:"added,omitempty"`   // lines
	Removed int        `json:"removed,omitempty"` // lines
	Binary  bool       `json:"binary,omitempty"`  // it has no diff
	Closed  bool       `json:"closed,omitempty"`  // its content is not sent
	// ByTools is true if a file tool of the session changed it. Without it, the
	// change is that of a command, of another session, or of a person.
	ByTools bool `json:"byTools,omitempty"`
	// Diff is a unified diff; only in an answer about one file.
	Diff string `json:"diff,omitempty"`
	Cut  bool   `json:"cut,omitempty"` // the diff is longer than MaxFileDiff
	// Version identifies the file's present content for revert_file; only in an
	// answer of get_changes about one file that can be reverted.
	Version string `json:"version,omitempty"`
}

// GitCommitInfo is a commit.
type GitCommitInfo struct {
	ID      string `json:"id"`
	Author  string `json:"author"`         // name
	At      int64  `json:"at"`             // Unix milliseconds
	Subject string `json:"subject"`        // first line of the message
	Body    string `json:"body,omitempty"` // the rest, at most 4096 bytes
}

// GitBranch is a local branch.
type GitBranch struct {
	Name     string `json:"name"`
	Head     string `json:"head"`               // id of its latest commit
	Upstream string `json:"upstream,omitempty"` // branch that it follows
	At       int64  `json:"at"`                 // of its latest commit, in Unix milliseconds
	Current  bool   `json:"current,omitempty"`
}
