package diskerror

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	file := filepath.Join("home", "rules.json")
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"nothing":            {nil, ""},
		"another reason":     {&fs.PathError{Op: "open", Path: file, Err: fs.ErrNotExist}, ""},
		"no file":            {&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", fs.ErrPermission)}, ""},
		"a full disk":        {full[0], "no space is left on the disk"},
		"a full folder":      {&fs.PathError{Op: "write", Path: file, Err: full[0]}, "no space is left in home:"},
		"a wrapped error":    {fmt.Errorf("saving: %w", errors.Join(&fs.PathError{Op: "write", Path: file, Err: full[0]})), "no space is left in home:"},
		"a rename":           {&os.LinkError{Op: "rename", Old: "x", New: file, Err: full[0]}, "no space is left in home:"},
		"a read-only disk":   {&fs.PathError{Op: "open", Path: file, Err: readOnly[0]}, "the disk of home is mounted read-only"},
		"some disk":          {readOnly[0], "the disk is mounted read-only"},
		"a missing right":    {&fs.PathError{Op: "open", Path: file, Err: fs.ErrPermission}, file + " may not be read or written"},
		"a right of no file": {fs.ErrPermission, ""},
	} {
		if got := Explain(c.err); c.want == "" && got != "" || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
