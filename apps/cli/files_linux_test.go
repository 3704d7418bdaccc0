package cli

import (
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cmdFiles lowers the limit on file sizes. That makes writes fail without a mount or
// privileges, and the host treats it as a full disk.
func cmdFiles(ts *testscript.TestScript, s *stage, args []string) {
	wantArgs(ts, args, 2)
	limit := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	if args[1] == "full" {
		limit.Cur = 1
	}
	ts.Check(unix.Prlimit(s.process(ts, args[0]).cmd.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil))
}
