//go:build unix

package awake

import (
	"context"
	"errors"
	"fmt"
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
	conn, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return nil, errors.Join(ErrUnsupported, fmt.Errorf("connecting to the system bus: %w", err))
	}
	defer func() { _ = conn.Close() }() // the lock is a file of its own
	lock, err := inhibit(ctx, conn, "sleep:idle")
	if refused := new(dbus.Error); errors.As(err, refused) && refused.Name == accessDenied {
		lock, err = inhibit(ctx, conn, "idle")
	}
	if err != nil {
		return nil, fmt.Errorf("asking logind to stay awake: %w", err)
	}
	return func() { _ = syscall.Close(int(lock)) }, nil // what fails is closed too
}

func inhibit(ctx context.Context, conn *dbus.Conn, what string) (lock dbus.UnixFD, err error) {
	manager := conn.Object("org.freedesktop.login1", "/org/freedesktop/login1")
	err = manager.CallWithContext(ctx, "org.freedesktop.login1.Manager.Inhibit", 0, what, who, why, "block").Store(&lock)
	if err == nil {
		syscall.CloseOnExec(int(lock))
	}
	return lock, err
}
