package projectcontext

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Bounds of the description of a repository.
const (
	maxStatusLines = 20
	maxStatusLine  = 200 // bytes
	maxHead        = 4 << 10
	statusTimeout  = 3 * time.Second
)

// Environment describes the folder and the machine to a session that starts in cwd.
func (s *Source) Environment(ctx context.Context, cwd string) session.Environment {
	return environmentOf(ctx, cwd, s.Trust.Has(cwd), time.Now())
}

// environmentOf describes the start of a session in cwd. It asks git for the state of the
// repository only in a trusted folder, because a repository can name programs that git
// runs. The branch is read from its file.
func environmentOf(ctx context.Context, cwd string, trusted bool, now time.Time) session.Environment {
	e := session.Environment{
		OS: runtime.GOOS + "/" + runtime.GOARCH, Shell: cmp.Or(os.Getenv("SHELL"), os.Getenv("ComSpec")), Folder: cwd,
		Date: now.Format(time.DateOnly), TimeZone: strings.TrimSpace(now.Format("MST ") + "(UTC" + now.Format("-07:00") + ")"),
	}
	if e.GitBranch = gitBranch(cwd); e.GitBranch != "" && trusted {
		e.GitStatus, e.GitClean = gitStatus(ctx, cwd)
	}
	return e
}

// gitBranch returns the branch of the repository that contains a folder; of a commit
// without one, its beginning. "" is no repository.
func gitBranch(cwd string) string {
	for folder := cwd; ; folder = filepath.Dir(folder) {
		dir := filepath.Join(folder, ".git")
		if info, err := os.Stat(dir); err == nil {
			if !info.IsDir() { // of a worktree
				dir, _ = strings.CutPrefix(firstLine(dir), "gitdir: ")
				if !filepath.IsAbs(dir) {
					dir = filepath.Join(folder, dir)
				}
			}
			head := firstLine(filepath.Join(dir, "HEAD"))
			if branch, ok := strings.CutPrefix(head, "ref: refs/heads/"); ok {
				return branch
			}
			return head[:min(len(head), 12)]
		}
		if filepath.Dir(folder) == folder {
			return ""
		}
	}
}

// firstLine returns the first line of a short file, without control characters.
func firstLine(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxHead))
	if err != nil {
		return ""
	}
	line, _, _ := strings.Cut(string(data), "\n")
	return printable(strings.TrimSpace(line))
}

func printable(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(text, ""))
	return strings.ToValidUTF8(text[:min(len(text), maxStatusLine)], "")
}

// gitStatus asks git what has changed. It does not start a program that the repository names.
func gitStatus(ctx context.Context, cwd string) (lines []string, clean bool) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "--no-optional-locks", "-c", "core.fsmonitor=false", "status", "--porcelain=v1")
	git.Dir = cwd
	git.WaitDelay = time.Second
	out, err := git.Output()
	if err != nil {
		return nil, false
	}
	all := bytes.Split(bytes.TrimRight(out, "\n"), []byte("\n"))
	for i, line := range all {
		if i == maxStatusLines {
			lines = append(lines, "(more are left out)")
			break
		}
		if text := printable(string(line)); text != "" {
			lines = append(lines, text)
		}
	}
	return lines, len(lines) == 0
}
