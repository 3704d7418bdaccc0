//go:build unix

package awake

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/godbus/dbus/v5"
)

// logind keeps the machine awake with an inhibitor lock of systemd-logind, which is an open file:
// the lock ends when that is closed.
type logind struct{}

// accessDenied is the name of the D-Bus error for what the user may not do.
const accessDenied = "org.freedesktop.DBus.Error.AccessDenied"

// Hold implements Inhibitor. A user without a session at the machine may not delay a sleep that
// somebody asks for, but may hold off the one that inactivity causes.
func (logind) Hold(ctx context.Context) (func(), error) {
	var lock files
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx), dbus.WithIncomingInterceptor(lock.take))
	if err != nil {
		return nil, errors.Join(ErrUnsupported, fmt.Errorf("connecting to the system bus: %w", err))
	}
	defer func() { _ = conn.Close() }() // the lock is a file of its own
	err = inhibit(ctx, conn, "sleep:idle")
	if refused := new(dbus.Error); errors.As(err, refused) && refused.Name == accessDenied {
		err = inhibit(ctx, conn, "idle")
	}
	if err != nil {
		lock.close()
		return nil, fmt.Errorf("asking logind to stay awake: %w", err)
	}
	return lock.close, nil
}

// inhibit returns when the lock has arrived at the connection.
func inhibit(ctx context.Context, conn *dbus.Conn, what string) error {
	manager := conn.Object("org.freedesktop.login1", "/org/freedesktop/login1")
	return manager.CallWithContext(ctx, "org.freedesktop.login1.Manager.Inhibit", 0, what, who, why, "block").Err
}

// files are the open files that a connection receives. The library forgets those of an answer
// that comes after its caller has given up, and the machine would then stay awake as long as
// this process runs.
type files struct {
	mu     sync.Mutex
	open   []dbus.UnixFD
	closed bool
}

// take is called with each message before the caller that waits for it gets it.
func (f *files) take(message *dbus.Message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, part := range message.Body {
		if file, ok := part.(dbus.UnixFD); ok {
			syscall.CloseOnExec(int(file))
			f.open = append(f.open, file)
		}
	}
	f.closeIfDone()
}

// close closes what has come, and what still comes.
func (f *files) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.closeIfDone()
}

func (f *files) closeIfDone() {
	if !f.closed {
		return
	}
	for _, file := range f.open {
		_ = syscall.Close(int(file)) // what fails is closed too
	}
	f.open = nil
}
