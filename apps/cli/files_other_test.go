//go:build !linux

package cli

import "github.com/rogpeppe/go-internal/testscript"

func cmdFiles(ts *testscript.TestScript, _ *stage, _ []string) {
	ts.Fatalf("files works on Linux only")
}
