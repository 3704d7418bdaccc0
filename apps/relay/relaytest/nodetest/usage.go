//go:build unix

package nodetest

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// get requests a path of the node itself. Each request uses its own connection, so
// that none is left open.
func (n *Node) get(path string) ([]byte, error) {
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(n.Peers.URL + path)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s says %s: %s", path, answer.Status, body)
	}
	return body, err
}

// Ready returns why the node is not ready, or nil.
func (n *Node) Ready() error {
	_, err := n.get("/readyz")
	return err
}

// Metrics returns the node's metrics: the value of each series by its name with
// labels, such as `scorel_relay_connections{role="host"}`.
func (n *Node) Metrics(t testing.TB) map[string]float64 {
	t.Helper()
	body, err := n.get("/metrics")
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]float64)
	for lines := bufio.NewScanner(bytes.NewReader(body)); lines.Scan(); {
		name, value, ok := strings.Cut(lines.Text(), " ")
		if n, err := strconv.ParseFloat(value, 64); ok && err == nil {
			out[name] = n
		}
	}
	return out
}

// Usage is the kernel's accounting for a node's process.
type Usage struct {
	RSS int64         // bytes in memory now
	CPU time.Duration // user and system since its start
	FDs int           // open descriptors
}

// ticksPerSecond is the unit of CPU time in /proc, which Linux has fixed.
const ticksPerSecond = 100

// Usage reads /proc.
func (n *Node) Usage(t testing.TB) Usage {
	t.Helper()
	u, err := UsageOf(n.PID())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// UsageOf reads what the kernel counts for any process.
func UsageOf(pid int) (u Usage, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return u, err
	}
	// The name in brackets may contain blanks; the fields are counted after it.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const utime, stime, rss = 11, 12, 21
	for _, at := range []int{utime, stime} {
		ticks, err := strconv.ParseInt(fields[at], 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(ticks) * time.Second / ticksPerSecond
	}
	pages, err := strconv.ParseInt(fields[rss], 10, 64)
	if err != nil {
		return u, err
	}
	u.RSS = pages * int64(os.Getpagesize())
	fds, err := os.ReadDir(dir + "fd")
	u.FDs = len(fds)
	return u, err
}
