package tool

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

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
	folder, _, err := t.private.openFolder(full)
	if errors.Is(err, errIsFile) {
		return agent.Failure("list_dir: %s is a file; use read_file.", args.Path)
	} else if err != nil {
		return agent.Failure("list_dir: %s", t.pathError(call, args.Path, full, err))
	}
	defer folder.Close()
	entries, err := entriesOf(ctx, folder)
	if ctx.Err() != nil {
		return agent.Cancelled(0, "")
	}
	if err != nil {
		return agent.Failure("list_dir: %s", t.pathError(call, args.Path, full, err))
	}
	t.nearFolder(call.Cwd, full)
	if len(entries) == 0 {
		return agent.Success("(the folder is empty)")
	}
	rows := make([]string, 0, len(entries))
	for _, entry := range entries {
		rows = append(rows, describeEntry(folder, entry))
	}
	return agent.Success(t.firstRows("list_dir", rows, MaxLines, "entries", "use glob to look for names"))
}

// describeEntry formats an entry: a folder with a trailing slash, a link with its target, a
// file with its size.
func describeEntry(folder *os.Root, entry fs.DirEntry) string {
	switch {
	case entry.IsDir():
		return entry.Name() + "/"
	case entry.Type()&fs.ModeSymlink != 0:
		target, err := folder.Readlink(entry.Name())
		if err != nil {
			target = "?"
		}
		return entry.Name() + " -> " + target
	case !entry.Type().IsRegular():
		return entry.Name() + " (device, pipe or socket)"
	}
	info, err := folder.Lstat(entry.Name())
	if err != nil { // it was deleted in the meantime
		return entry.Name()
	}
	return fmt.Sprintf("%s (%d bytes)", entry.Name(), info.Size())
}

// describePath describes a call of a tool that takes a path.
func describePath(verb string, call agent.Call) agent.Description {
	return agent.Description{Title: verb, Detail: string(call.Arguments)}
}
