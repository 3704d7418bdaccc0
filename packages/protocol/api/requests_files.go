package api

// Requests about the files of projects.
var (
	ListFiles   = Define[ListFilesRequest, ListFilesResponse]("list_files", GrantFiles, "Lists a folder of a project.", Named)
	FindFiles   = Define[FindFilesRequest, FindFilesResponse]("find_files", GrantFiles, "Finds files of a project by parts of their paths.", Concurrently, Named)
	ReadFile    = Define[ReadFileRequest, ReadFileResponse]("read_file", GrantFiles, "Returns a part of a file of a project.", Named)
	GitStatus   = Define[GitStatusRequest, GitStatusResponse]("git_status", GrantFiles, "Lists the uncommitted changes of a repository.", Concurrently, Named)
	GitDiff     = Define[GitDiffRequest, GitDiffResponse]("git_diff", GrantFiles, "Shows what is not committed, or what a commit changed.", Concurrently, Named)
	GitLog      = Define[GitLogRequest, GitLogResponse]("git_log", GrantFiles, "Lists the commits of a repository.", Concurrently, Named)
	GitBranches = Define[GitBranchesRequest, GitBranchesResponse]("git_branches", GrantFiles, "Lists the local branches of a repository.", Concurrently, Named)
	GitCommit   = Define[GitCommitRequest, GitCommitResponse]("git_commit", GrantFiles, "Commits the current content of some files.", Concurrently, Named)
	GetChanges  = Define[GetChangesRequest, GetChangesResponse]("get_changes", GrantFiles, "Lists the files that changed since a session began.", Concurrently, Named)
	RevertFile  = Define[RevertFileRequest, Empty]("revert_file", GrantFiles, "Restores a file as it was when a session began.", Concurrently, Named)
)

func fileRequests() []Spec {
	return []Spec{
		ListFiles.Spec(),
		FindFiles.Spec(),
		ReadFile.Spec(),
		GitStatus.Spec(),
		GitDiff.Spec(),
		GitLog.Spec(),
		GitBranches.Spec(),
		GitCommit.Spec(),
		GetChanges.Spec(),
		RevertFile.Spec(),
	}
}
