// Package dbustest starts a D-Bus daemon for tests, on which they export services of their own.
package dbustest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
)

// config lets everybody on the bus do everything. It is a config file, because Debian has no
// session.conf where only the daemon is installed.
const config = `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=%s</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>`

// Start runs a daemon until the test ends, and returns its address and a connection to it.
func Start(t testing.TB) (address string, conn *dbus.Conn) {
	t.Helper()
	folder := t.TempDir()
	file, socket := filepath.Join(folder, "bus.conf"), filepath.Join(folder, "bus")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	daemon := exec.Command("dbus-daemon", "--nofork", "--nopidfile", "--config-file="+file, "--print-address=1")
	out, err := daemon.StdoutPipe()
	if err == nil {
		err = daemon.Start()
	}
	if err != nil {
		t.Fatalf("a D-Bus daemon is needed (Debian: dbus-daemon): %v", err)
	}
	t.Cleanup(func() { _ = daemon.Process.Kill(); _ = daemon.Wait() })
	if address, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	if conn, err = dbus.Connect(address); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return address, conn
}

// Own takes a name on the bus.
func Own(t testing.TB, conn *dbus.Conn, name string) {
	t.Helper()
	if reply, err := conn.RequestName(name, dbus.NameFlagDoNotQueue); err != nil || reply != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("owning the name %s: %v %v", name, reply, err)
	}
}
