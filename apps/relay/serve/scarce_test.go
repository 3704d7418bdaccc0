package serve

import (
	"bytes"
	"errors"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// refusing is a listener of a process that has no file descriptors left.
type refusing struct {
	net.Listener
	err error
}

func (r refusing) Accept() (net.Conn, error) {
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", r.err)}
}

// A relay that has no file descriptors left says so, once a minute at the most.
func TestARelayWithoutFileDescriptorsSaysSo(t *testing.T) {
	for _, scarce := range []error{syscall.EMFILE, syscall.ENFILE} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			w := &watched{Listener: refusing{err: scarce}, log: slog.New(slog.NewTextHandler(&out, nil))}
			for range 600 { // ten minutes, as the server tries again
				if _, err := w.Accept(); !errors.Is(err, scarce) {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			text := out.String()
			if n := strings.Count(text, "no file descriptors are left. Raise the limit"); n != 10 || !strings.Contains(text, "failed=60") {
				t.Errorf("%d lines: %s", n, text)
			}
		})
	}
	var out bytes.Buffer
	w := &watched{Listener: refusing{err: syscall.ECONNABORTED}, log: slog.New(slog.NewTextHandler(&out, nil))}
	if _, err := w.Accept(); err == nil || out.Len() > 0 {
		t.Errorf("%v is logged as %s", err, out.String())
	}
}
