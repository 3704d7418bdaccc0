package proxies

import (
	"bytes"
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// setup is one configuration and how its program is started.
type setup struct {
	name string
	file string // in deploy/proxies
	tcp  bool   // TLS is the relay's, and the client's address comes in a PROXY header
	// changes are made to the file, pairs of old and new. CERT, KEY and IDLE are replaced
	// afterwards by file names and by idleTimeout in seconds.
	changes []string
	around  string // the file that includes FILE; "" if the program reads it directly
	command []string
	// How the proxy answers a body and a header that are too large.
	body, header []int
}

// idleTimeout is the shortened timeout of connections in every configuration: many times the
// relay's interval of pings in the tests, so that a busy machine does not matter.
const idleTimeout = 4 * time.Second

// nginxAround is what Debian's nginx.conf does, as far as it matters here.
const nginxAround = `daemon off; user root; pid WORK/pid; error_log stderr; worker_processes 1; load_module /usr/lib/nginx/modules/ngx_stream_module.so;
events {}
`

var setups = []setup{
	{
		name: "nginx", file: "nginx.conf",
		changes: []string{
			"/etc/ssl/relay.example.pem", "CERT", "/etc/ssl/relay.example.key", "KEY",
			"proxy_read_timeout 120s", "proxy_read_timeout IDLEs", "proxy_send_timeout 120s", "proxy_send_timeout IDLEs",
		},
		around: nginxAround + `http {
	access_log off; client_body_temp_path WORK; proxy_temp_path WORK; fastcgi_temp_path WORK; uwsgi_temp_path WORK; scgi_temp_path WORK;
	include FILE;
}`,
		command: []string{"nginx", "-p", "WORK", "-c", "CONFIG"},
		body:    []int{413}, header: []int{400},
	},
	{
		name: "nginx-stream", file: "nginx-stream.conf", tcp: true,
		changes: []string{"proxy_timeout 120s", "proxy_timeout IDLEs"},
		around:  nginxAround + "include FILE;",
		command: []string{"nginx", "-p", "WORK", "-c", "CONFIG"},
		body:    []int{405}, header: []int{431},
	},
	{
		name: "haproxy", file: "haproxy.cfg",
		changes: []string{"/etc/ssl/relay.example.pem", "CERT", "timeout tunnel 120s", "timeout tunnel IDLEs"},
		command: []string{"haproxy", "-db", "-f", "CONFIG"},
		body:    []int{413}, header: []int{400},
	},
	{
		name: "haproxy-tcp", file: "haproxy-tcp.cfg", tcp: true,
		changes: []string{"timeout client 120s", "timeout client IDLEs", "timeout server 120s", "timeout server IDLEs"},
		command: []string{"haproxy", "-db", "-f", "CONFIG"},
		body:    []int{405}, header: []int{431},
	},
	{
		name: "caddy", file: "Caddyfile",
		changes: []string{
			"relay.example {\n", "relay.example {\n\ttls CERT KEY\n", // no authority can be reached here
			"read_timeout 120s", "read_timeout IDLEs", "write_timeout 120s", "write_timeout IDLEs",
		},
		command: []string{"caddy", "run", "--adapter", "caddyfile", "--config", "CONFIG"},
		// The relay's 405 may be faster, and Caddy 2.6 makes 502 of its own 413.
		body: []int{405, 413, 502}, header: []int{431},
	},
}

// start runs the proxy until the test ends, and returns once it accepts connections.
func (s setup) start(t *testing.T, cert certificate) {
	t.Helper()
	work := t.TempDir()
	config := filepath.Join(work, s.file)
	s.write(t, config, cert)
	if s.around != "" {
		around := filepath.Join(work, "around.conf")
		text := strings.NewReplacer("WORK", work, "FILE", config).Replace(s.around)
		writeFile(t, around, []byte(text))
		config = around
	}
	words := make([]string, len(s.command))
	for i, word := range s.command {
		words[i] = strings.NewReplacer("WORK", work, "CONFIG", config).Replace(word)
	}
	runUntilEnd(t, work, words)
}

// write writes the configuration with its changes, each of which must apply exactly once.
func (s setup) write(t *testing.T, path string, cert certificate) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "proxies", s.file))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(s.changes); i += 2 {
		if n := strings.Count(text, s.changes[i]); n != 1 {
			t.Fatalf("%s has %q %d times, want once", s.file, s.changes[i], n)
		}
		text = strings.Replace(text, s.changes[i], s.changes[i+1], 1)
	}
	text = strings.NewReplacer("CERT", cert.both, "KEY", cert.key, "IDLE", idleSeconds).Replace(text)
	writeFile(t, path, []byte(text))
}

func runUntilEnd(t *testing.T, work string, words []string) {
	t.Helper()
	var said bytes.Buffer // read only after the process has ended
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "HOME="+work, "XDG_DATA_HOME="+work, "XDG_CONFIG_HOME="+work)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = patience // SIGKILL after that
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatalf("%s: %v; .ci/deploy installs it", words[0], err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is ended by a signal
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("%s said:\n%s", words[0], said.String())
		}
	})
	awaitListener(t, ended)
}

// awaitListener returns once the proxy accepts connections.
func awaitListener(t *testing.T, ended <-chan struct{}) {
	t.Helper()
	for deadline := time.Now().Add(patience); ; {
		conn, err := net.Dial("tcp", proxyAddr+":443")
		if err == nil {
			_ = conn.Close() // the proxy may have closed it
			return
		}
		select {
		case <-ended:
			t.Fatal("the proxy ended at its start")
		case <-time.After(10 * time.Millisecond): // a process offers no event to wait for
		}
		if time.Now().After(deadline) {
			t.Fatalf("the proxy does not listen: %v", err)
		}
	}
}
