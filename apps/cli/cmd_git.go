package cli

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newGit(a *app) *cobra.Command {
	return group("git", "Inspect and commit the changes of a project or a session",
		"  scorel git status --session ID\n  scorel git commit a.go --message \"relay: bound the queue\" --session ID",
		newGitStatus(a), newGitDiff(a), newGitLog(a), newGitBranches(a), newGitCommit(a))
}

func newGitStatus(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "status",
		Short:   "List uncommitted changes",
		Example: "  scorel git status\n  scorel git status --session ID --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.placeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			r, err := client.Call(cmd.Context(), c, api.GitStatus, api.GitStatusRequest{Place: place})
			switch {
			case err != nil:
				return err
			case f.asJSON:
				return printJSON(a.stdout, r)
			}
			return printGitStatus(a.console, r)
		})
	}
	return cmd
}

func printGitStatus(con console, r api.GitStatusResponse) error {
	if !r.Repository {
		_, err := fmt.Fprintln(con.stdout, "this folder is not in a git repository")
		return err
	}
	branch := "detached at " + r.Head
	if r.Branch != "" {
		branch = "on branch " + r.Branch
	}
	if r.Upstream != "" {
		branch += fmt.Sprintf(" (%d ahead of and %d behind %s)", r.Ahead, r.Behind, r.Upstream)
	}
	sayNotes(con.stderr, []string{branch})
	if r.Busy != "" {
		sayNotes(con.stderr, []string{"an unfinished " + r.Busy + " blocks commits: finish it with git"})
	}
	noteTruncated(con.stderr, r.Truncated)
	return printList(con.stdout, false, r.Files, listing[api.GitFile]{
		none:   "nothing to commit",
		header: []string{"STATUS", "STAGED", "FILE"},
		row: func(_ int, file api.GitFile) []string {
			status := string(file.Status)
			if file.Untracked {
				status = "untracked"
			}
			return []string{status, yesNo(file.Staged), pathsOf(api.FileChange{Path: file.Path, From: file.From})}
		},
	})
}

func newGitDiff(a *app) *cobra.Command {
	var request api.GitDiffRequest
	cmd := &cobra.Command{
		Use:   "diff [PATH]",
		Short: "Show uncommitted changes, or those of a commit",
		Long: `Show what is not committed, or with --commit what a commit changed: the diff of one file, or
without PATH of all files. With --json, each line is one file.`,
		Example: "  scorel git diff\n  scorel git diff relay/queue.go --session ID\n  scorel git diff --commit 1a2b3c4d --json",
		Args:    argCount(0, 1, "the path of at most one file"),
	}
	f := a.placeFlags(cmd)
	cmd.Flags().StringVar(&request.Commit, "commit", "", "id of a commit: show what it changed")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			request.Place, request.Path = place, strings.Join(args, "")
			files, err := diffs(cmd.Context(), a.stderr, c, request)
			switch {
			case err != nil:
				return err
			case f.asJSON:
				return printEach(a.stdout, files)
			case len(files) == 0:
				_, err = fmt.Fprintln(a.stdout, "nothing has changed")
				return err
			}
			return writeDiffs(a.stdout, files)
		})
	}
	return cmd
}

// diffs returns files with their diffs, which the host sends one at a time.
func diffs(ctx context.Context, stderr io.Writer, c *client.Client, request api.GitDiffRequest) ([]api.FileChange, error) {
	r, err := client.Call(ctx, c, api.GitDiff, request)
	if err != nil || request.Path != "" {
		return r.Files, err
	}
	noteTruncated(stderr, r.Truncated)
	for i, file := range r.Files {
		if file.Binary || file.Closed {
			continue
		}
		request.Path = file.Path
		one, err := client.Call(ctx, c, api.GitDiff, request)
		if err != nil {
			return nil, err
		}
		if at := slices.IndexFunc(one.Files, func(f api.FileChange) bool { return f.Path == file.Path }); at >= 0 {
			r.Files[i] = one.Files[at]
		}
	}
	return r.Files, nil
}

// writeDiffs prints diffs, and a line for each file that has none.
func writeDiffs(w io.Writer, files []api.FileChange) error {
	var b strings.Builder
	for _, file := range files {
		if file.Diff != "" {
			b.WriteString(printableLines(file.Diff))
		} else {
			fmt.Fprintf(&b, "%s: %s, %s\n", printable(pathsOf(file)), printable(string(file.Status)), linesOf(file))
		}
		if file.Cut {
			b.WriteString("(the diff continues)\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func newGitLog(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:     "log",
		Short:   "List commits, newest first",
		Example: "  scorel git log\n  scorel git log --limit 5 --session ID --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.placeFlags(cmd)
	cmd.Flags().IntVar(&limit, "limit", 20, "maximum number of commits")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if limit < 1 {
			return usagef("--limit %d: give a number of at least 1", limit)
		}
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			commits, err := commitsOf(cmd.Context(), c, place, limit)
			if err != nil {
				return err
			}
			return printList(a.stdout, f.asJSON, commits, listing[api.GitCommitInfo]{
				none:   "there are no commits",
				header: []string{"ID", "DATE", "AUTHOR", "SUBJECT"},
				row: func(_ int, commit api.GitCommitInfo) []string {
					return []string{commit.ID[:min(len(commit.ID), 12)], formatMillis(commit.At), clip(commit.Author, 30), clip(commit.Subject, 72)}
				},
			})
		})
	}
	return cmd
}

// commitsOf reads commits page by page.
func commitsOf(ctx context.Context, c *client.Client, place api.Place, limit int) (all []api.GitCommitInfo, _ error) {
	request := api.GitLogRequest{Place: place}
	for {
		request.Limit = min(limit-len(all), api.MaxCommits)
		page, err := client.Call(ctx, c, api.GitLog, request)
		if err != nil {
			return nil, err
		}
		all = append(all, page.Commits...)
		if page.Next == "" || len(page.Commits) == 0 || len(all) >= limit {
			return all, nil
		}
		request.From = page.Next
	}
}

func newGitBranches(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "branches",
		Short:   "List local branches, the latest first",
		Example: "  scorel git branches\n  scorel git branches --session ID --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	f := a.placeFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			r, err := client.Call(cmd.Context(), c, api.GitBranches, api.GitBranchesRequest{Place: place})
			if err != nil {
				return err
			}
			return printList(a.stdout, f.asJSON, r.Branches, listing[api.GitBranch]{
				none:   "there are no branches",
				header: []string{"CURRENT", "BRANCH", "HEAD", "DATE", "UPSTREAM"},
				row: func(_ int, b api.GitBranch) []string {
					return []string{yesNo(b.Current), b.Name, b.Head[:min(len(b.Head), 12)], formatMillis(b.At), b.Upstream}
				},
			})
		})
	}
	return cmd
}

func newGitCommit(a *app) *cobra.Command {
	var message string
	cmd := &cobra.Command{
		Use:   "commit PATH...",
		Short: "Commit the current content of files",
		Long: `Commit the current content of the given files, and nothing else: other staged changes stay
staged. git on the host's machine needs a name and an e-mail address.`,
		Example: "  scorel git commit relay/queue.go --message \"relay: bound the queue\"\n  scorel git commit a.go b.go -m \"fix the build\" --session ID --json",
		Args:    argCount(1, api.MaxCommitPaths, "the paths of files"),
	}
	f := a.placeFlags(cmd)
	cmd.Flags().StringVarP(&message, "message", "m", "", "message of the commit (required)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(message) == "" {
			return usagef("the message is missing: give --message")
		}
		return f.on(cmd.Context(), func(c *client.Client, place api.Place) error {
			status, err := client.Call(cmd.Context(), c, api.GitStatus, api.GitStatusRequest{Place: place})
			if err != nil {
				return err
			}
			done, err := client.Call(cmd.Context(), c, api.GitCommit, api.GitCommitRequest{
				Place: place, ClientKey: rand.Text(), Head: status.Head, Message: message, Paths: args,
			})
			switch {
			case err != nil:
				return err
			case f.asJSON:
				return printJSON(a.stdout, done)
			}
			_, err = fmt.Fprintf(a.stdout, "committed as %s\n", printable(done.Commit))
			return err
		})
	}
	return cmd
}
