package tool

import (
	"context"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed listdir.md
var listDirDoc string

type listDir struct{ *Set }

type listDirArgs struct {
	Path string `json:"path,omitempty"`
}

func (listDir) Spec() agent.ToolSpec {
	return spec("list_dir", listDirDoc, `{
		"path": {"type": "string", "description": "Folder to list; without it, the working folder."}}`)
}

func (listDir) Risk() agent.Risk { return agent.RiskRead }

func (listDir) Describe(call agent.Call) agent.Description { return describePath("List", call) }

func (t listDir) Run(ctx context.Context, call agent.Call, _ func(string)) agent.Result {
	args := listDirArgs{}
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("list_dir: %v.", err)
	}
	if args.Path == "" {
		args.Path = "."
	}
	full, err := resolvePath(call, args.Path, t.private)
	if err != nil {
		return agent.Failure("list_dir: %v.", err)
	}
	entries, err := os.ReadDir(full)
	if err != nil {
		if info, statErr := os.Stat(full); statErr == nil && !info.IsDir() {
			return agent.Failure("list_dir: %s is a file; use read_file.", args.Path)
		}
		return agent.Failure("list_dir: %s", pathError(call, args.Path, full, err))
	}
	if ctx.Err() != nil {
		return agent.Cancelled(0, "")
	}
	t.nearFolder(call.Cwd, full)
	if len(entries) == 0 {
		return agent.Success("(the folder is empty)")
	}
	rows := make([]string, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, describeEntry(full, entry))
	}
	return agent.Success(t.firstRows("list_dir", rows, MaxLines, "entries", "use glob to look for names"))
}

// describeEntry shows a folder with a slash behind it, a link with where it
// leads, and a file with its size.
func describeEntry(dir string, entry fs.DirEntry) string {
	switch {
	case entry.IsDir():
		return entry.Name() + "/"
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		if err != nil {
			target = "?"
		}
		return entry.Name() + " -> " + target
	case !entry.Type().IsRegular():
		return entry.Name() + " (device, pipe or socket)"
	}
	info, err := entry.Info()
	if err != nil { // it went away meanwhile
		return entry.Name()
	}
	return fmt.Sprintf("%s (%d bytes)", entry.Name(), info.Size())
}

// describePath is the description of a tool that takes a path.
func describePath(verb string, call agent.Call) agent.Description {
	return agent.Description{Title: verb, Detail: string(call.Arguments)}
}
