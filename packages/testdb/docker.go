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

// pingTimeout is how long a Docker daemon may take to answer. One that accepts and
// never answers would hold the tests for minutes.
const pingTimeout = 2 * time.Second

// dockerHost returns where the Docker daemon listens: DOCKER_HOST, the socket of a
// daemon without root if there is one, or the usual socket.
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

// ping tells why no Docker daemon can be used at host, or nil. That a docker
// program is installed says nothing: it is often there without a daemon.
func ping(ctx context.Context, host string) error {
	ctx, cancel := context.WithTimeout(ctx, pingTimeout)
	defer cancel()
	network, address, ok := strings.Cut(host, "://")
	if !ok || network != "unix" && network != "tcp" {
		return fmt.Errorf("docker: %q is no address that can be probed", host)
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
	module    = "github.com/scorel/scorel/packages/testdb"
	container = module + "/cmd/testdb-container"
)

// startContainer runs the server in a container. A program of its own does that,
// built only now: what it needs to speak to Docker would otherwise be a
// dependency of everything that is tested with a database.
func (e *engine) startContainer(ctx context.Context) (*server, error) {
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
	k, err := keep(ctx, exec.Command(program, e.image), logs)
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
	return &server{engine: e, admin: admin, keeper: k}, nil
}

// buildContainer builds the program in its own module, which is where the go
// command says that it is.
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
