package testdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// pingTimeout is how long a Docker daemon may take to answer. One that accepts
// connections but never answers would block the tests for minutes.
const pingTimeout = 2 * time.Second

// dockerHost returns the address of the Docker daemon: DOCKER_HOST, the socket of a
// rootless daemon if there is one, or the usual socket.
func dockerHost(getenv func(string) string) string {
	if host := getenv("DOCKER_HOST"); host != "" {
		return host
	}
	for _, socket := range []string{
		filepath.Join(getenv("XDG_RUNTIME_DIR"), "docker.sock"),
		filepath.Join(getenv("HOME"), ".docker", "run", "docker.sock"),
	} {
		if info, err := os.Stat(socket); err == nil && info.Mode()&os.ModeSocket != 0 {
			return "unix://" + socket
		}
	}
	return "unix:///var/run/docker.sock"
}

// ping returns why no Docker daemon can be used at host, or nil. An installed
// docker program proves nothing: it is often there without a daemon.
func ping(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	network, address, ok := strings.Cut(host, "://")
	if !ok || network != "unix" && network != "tcp" {
		return fmt.Errorf("docker: %q is not an address that can be probed", host)
	}
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/_ping", http.NoBody)
	if err != nil {
		return err
	}
	response, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return fmt.Errorf("docker does not answer: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("docker does not answer: %s", response.Status)
	}
	return nil
}

const (
	module    = "github.com/scorel/scorel/packages"
	container = module + "/testdb/cmd/testdb-container"
)

// startContainer runs the server in a container. A separate program does that,
// built only now: its Docker libraries would otherwise be dependencies of
// everything that is tested with a database.
func (e *engine) startContainer(ctx context.Context, host string) (*server, error) {
	dir, err := os.MkdirTemp("", "scorel-testdb")
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "testdb-container")
	if err := buildContainer(ctx, program); err != nil {
		return nil, err
	}
	logs, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	defer logs.Close()
	run := exec.Command(program, e.image)
	run.Env = append(os.Environ(), "DOCKER_HOST="+host) // exactly the daemon that answered
	k, err := keep(ctx, run, logs)
	if err != nil {
		return nil, fmt.Errorf("docker: %w", err)
	}
	said, err := k.line()
	var admin *url.URL
	if err == nil {
		admin, err = url.Parse(said)
	}
	if err != nil {
		log, readErr := os.ReadFile(logs.Name())
		return nil, errors.Join(fmt.Errorf("docker: starting a container: %w: %s", err, bytes.TrimSpace(log)), readErr, k.pipe.Close(), k.output.Close())
	}
	s := &server{engine: e, admin: admin, keeper: k}
	if err := s.awaitReady(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("docker: waiting for the server at %s: %w", admin.Host, err), k.pipe.Close(), k.output.Close())
	}
	return s, nil
}

// buildContainer builds the program in its own module, in the folder that the go
// command reports.
func buildContainer(ctx context.Context, program string) error {
	where, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return fmt.Errorf("docker: finding %s: %w", module, err)
	}
	build := exec.CommandContext(ctx, "go", "build", "-o", program, container)
	build.Dir = strings.TrimSpace(string(where))
	build.Env = append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("docker: building %s: %w: %s", container, err, bytes.TrimSpace(out))
	}
	return nil
}
