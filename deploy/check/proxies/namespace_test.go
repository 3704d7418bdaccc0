package proxies

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/scorel/scorel/packages/leakcheck"
)

// insideEnv is set in the process that has a network of its own.
const insideEnv = "SCOREL_TEST_INSIDE"

// Addresses of the namespace's one interface: those of two clients, and the public one of the
// proxy. The relay does not limit clients with loopback addresses.
const (
	firstClient  = "198.51.100.1"
	secondClient = "198.51.100.2"
	proxyAddr    = "198.51.100.80"
)

func TestMain(m *testing.M) {
	if os.Getenv(insideEnv) == "" {
		os.Exit(runInside())
	}
	if err := makeNetwork(firstClient, secondClient, proxyAddr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	leakcheck.Main(m)
}

// runInside runs this program again in a new network namespace and returns its exit code.
func runInside() int {
	cmd := exec.Command(os.Args[0], os.Args[1:]...)
	cmd.Env = append(os.Environ(), insideEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	err := cmd.Run()
	if cmd.ProcessState == nil {
		fmt.Fprintln(os.Stderr, "a network namespace cannot be made:", err)
		return 1
	}
	return cmd.ProcessState.ExitCode()
}

// makeNetwork brings up the loopback interface of a new namespace, with addresses of its own.
func makeNetwork(addresses ...string) error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	defer unix.Close(socket)
	if err := interfaceUp(socket, "lo"); err != nil {
		return err
	}
	for i, address := range addresses {
		alias, err := unix.NewIfreq(fmt.Sprintf("lo:%d", i))
		if err != nil {
			return err
		}
		if err := alias.SetInet4Addr(parseIPv4(address)); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(socket, unix.SIOCSIFADDR, alias); err != nil {
			return fmt.Errorf("adding %s: %w", address, err)
		}
	}
	return nil
}

func interfaceUp(socket int, name string) error {
	request, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request); err != nil {
		return fmt.Errorf("bringing up %s: %w", name, err)
	}
	return nil
}
