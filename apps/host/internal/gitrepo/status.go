package gitrepo

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Status lists the files in the folder that differ from the current commit, at most limit.
func (v *View) Status(ctx context.Context, limit int) (files []api.GitFile, truncated bool, err error) {
	out, err := v.git(ctx, maxOutput, nil, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--ignore-submodules=all", "--no-renames", "--", ".")
	if errors.Is(err, errCut) {
		truncated, err = true, nil
		out = out[:strings.LastIndexByte(string(out), 0)+1]
	}
	if err != nil {
		return nil, false, err
	}
	prefix := v.prefix()
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if len(record) < 4 {
			continue
		}
		path, inside := strings.CutPrefix(record[3:], prefix)
		if !inside || strings.HasSuffix(path, "/") { // a repository of its own
			continue
		}
		if len(files) == limit {
			return files, true, nil
		}
		file := api.GitFile{Path: path, Status: statusOf(record[0], record[1]), Untracked: record[:2] == "??"}
		file.Staged = record[0] != ' ' && !file.Untracked && file.Status != api.FileConflicted
		files = append(files, file)
	}
	return files, truncated, nil
}

// statusOf translates the letters of the index and of the folder.
func statusOf(index, folder byte) api.FileStatus {
	both := string([]byte{index, folder})
	switch {
	case both == "??" || both == "A " || both == "AM":
		return api.FileAdded
	case both == "DD" || both == "AA" || strings.Contains(both, "U"):
		return api.FileConflicted
	case strings.Contains(both, "D"):
		return api.FileDeleted
	}
	return api.FileModified
}

// Tracking is how a branch relates to the one that it follows.
type Tracking struct {
	Upstream      string
	Ahead, Behind int
}

// fieldsOf are the fields of a line that a format of git separates by zero bytes.
func fieldsOf(line string, n int) ([]string, bool) {
	fields := strings.Split(line, "\x00")
	return fields, len(fields) == n
}

// Tracking returns how a branch relates to its upstream.
func (r *Repo) Tracking(ctx context.Context, branch string) (t Tracking, err error) {
	if branch == "" {
		return t, nil
	}
	out, err := r.bare(ctx, "for-each-ref", "--count=1", "--format=%(upstream:short)%00%(upstream:track,nobracket)", "refs/heads/"+branch)
	if err != nil {
		return t, err
	}
	fields, ok := fieldsOf(strings.TrimSuffix(string(out), "\n"), 2)
	if !ok {
		return t, nil
	}
	t.Upstream = fields[0]
	for part := range strings.SplitSeq(fields[1], ", ") {
		name, count, _ := strings.Cut(part, " ")
		n, err := strconv.Atoi(count)
		switch {
		case err != nil:
		case name == "ahead":
			t.Ahead = n
		case name == "behind":
			t.Behind = n
		}
	}
	return t, nil
}

// Branches lists the local branches, the one with the latest commit first, at most limit.
func (r *Repo) Branches(ctx context.Context, limit int) ([]api.GitBranch, error) {
	out, err := r.bare(ctx, "for-each-ref", "--count="+strconv.Itoa(limit), "--sort=-committerdate",
		"--format=%(refname:lstrip=2)%00%(objectname)%00%(upstream:short)%00%(committerdate:unix)", "refs/heads/")
	if err != nil {
		return nil, err
	}
	current, branches := r.Branch(), []api.GitBranch{}
	for line := range strings.Lines(string(out)) {
		fields, ok := fieldsOf(strings.TrimSuffix(line, "\n"), 4)
		if !ok {
			continue
		}
		branches = append(branches, api.GitBranch{Name: fields[0], Head: fields[1], Upstream: fields[2], At: millis(fields[3]), Current: fields[0] == current})
	}
	return branches, nil
}

// millis converts seconds since 1970 in decimal digits.
func millis(seconds string) int64 {
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return 0
	}
	return n * 1000
}

// maxBody bounds the text of a message of a commit in a list, in bytes.
const maxBody = 4 << 10

// Log lists commits from one on, newest first, at most limit. from is "" for the current
// commit; next is where the list continues, or "".
func (v *View) Log(ctx context.Context, from string, limit int) (commits []api.GitCommitInfo, next string, err error) {
	start := v.head
	if from != "" {
		if start, err = v.repo.resolve(ctx, from); err != nil {
			return nil, "", err
		}
	}
	if start == "" {
		return []api.GitCommitInfo{}, "", nil
	}
	out, err := v.git(ctx, maxOutput, nil, "log", "-z", "--no-show-signature", "--no-color", "--no-decorate", "--no-notes", "--max-count="+strconv.Itoa(limit+1),
		"--format=%H%x01%an%x01%ct%x01%B", "--end-of-options", start, "--")
	if err != nil && !errors.Is(err, errCut) {
		return nil, "", err
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(record, "\x01", 4)
		if len(fields) != 4 {
			continue
		}
		if len(commits) == limit {
			return commits, fields[0], nil
		}
		subject, body, _ := strings.Cut(strings.TrimSpace(strings.ToValidUTF8(fields[3], "\uFFFD")), "\n")
		body = strings.TrimSpace(body)
		commits = append(commits, api.GitCommitInfo{
			ID: fields[0], Author: strings.ToValidUTF8(fields[1], "\uFFFD"), At: millis(fields[2]), Subject: subject,
			Body: strings.ToValidUTF8(body[:min(len(body), maxBody)], ""),
		})
	}
	return commits, "", nil
}
