package logs

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/scorel/scorel/apps/bench/internal/report"
)

//go:embed pi.mjs
var piScript []byte

// ours is the test program of the host's file store: what it does in place of its
// tests is in its measure_test.go. The store itself is internal to the host.
type ours struct{ program string }

// buildOurs compiles it. host is the folder of apps/host.
func buildOurs(ctx context.Context, host, scratch string) (ours, error) {
	o := ours{filepath.Join(scratch, "store.test")}
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", o.program, "./internal/sessions/store/file")
	cmd.Dir = host
	if out, err := cmd.CombinedOutput(); err != nil {
		return o, fmt.Errorf("building the host's session store in %s (say where apps/host is with -host): %w\n%s", host, err, out)
	}
	return o, nil
}

func (o ours) measure(ctx context.Context, what string, args ...string) (report.Figures, error) {
	cmd := exec.CommandContext(ctx, o.program, args...)
	cmd.Env = append(os.Environ(), "SCOREL_TEST_CHILD=measure-"+what)
	return figuresOf(cmd)
}

// pi is an installed Pi and the node that runs it.
type pi struct{ node, folder, script string }

// HowToInstall says how to get the Pi that is compared with.
const HowToInstall = "npm install --prefix DIR @earendil-works/pi-coding-agent@1.5.2 with node 22.19 or newer, then -pi DIR/node_modules/@earendil-works/pi-coding-agent"

// findPi returns the Pi in folder, and its version. An empty folder is no Pi.
func findPi(node, folder, scratch string) (p *pi, version string, err error) {
	if folder == "" {
		return nil, "", nil
	}
	text, err := os.ReadFile(filepath.Join(folder, "package.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("there is no Pi in %s; install it: %s", folder, HowToInstall)
	}
	var about struct{ Version string }
	if err == nil {
		err = json.Unmarshal(text, &about)
	}
	p = &pi{node, folder, filepath.Join(scratch, "pi.mjs")}
	if err == nil {
		err = os.WriteFile(p.script, piScript, 0o600)
	}
	if err != nil {
		return nil, "", fmt.Errorf("preparing Pi: %w", err)
	}
	return p, about.Version, nil
}

func (p *pi) measure(ctx context.Context, file string, messages, appends int) (report.Figures, error) {
	return figuresOf(exec.CommandContext(ctx, p.node, p.script, p.folder, file, strconv.Itoa(messages), strconv.Itoa(appends)))
}

// figuresOf runs a program that prints one JSON object of figures.
func figuresOf(cmd *exec.Cmd) (report.Figures, error) {
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("measuring with %s: %w", filepath.Base(cmd.Path), err)
	}
	var f report.Figures
	if err := json.Unmarshal(out, &f); err != nil {
		return nil, fmt.Errorf("reading what %s measured: %w", filepath.Base(cmd.Path), err)
	}
	return f, nil
}
