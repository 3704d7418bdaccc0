// Package awaketest is a logind for tests, on a bus of their own.
package awaketest

import (
	"os"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/scorel/scorel/packages/dbustest"
)

// Logind answers requests for inhibitor locks as systemd-logind does.
type Logind struct {
	// Held receives what each lock is for, when it is taken, and Released the same when it ends.
	Held, Released chan string

	mu      sync.Mutex
	refused map[string]bool
	callers map[string]*os.File // ends of pipes that are on their way to a caller, by its name on the bus
	locks   []*os.File          // the other ends
	watched sync.WaitGroup
}

// locks is how many locks a test may take.
const locks = 16

// Serve runs a logind until the test ends, on a bus that this process finds in the environment.
func Serve(t testing.TB) *Logind {
	t.Helper()
	address, conn := dbustest.Start(t)
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", address)
	l := &Logind{Held: make(chan string, locks), Released: make(chan string, locks), refused: map[string]bool{}, callers: map[string]*os.File{}}
	l.watchCallers(t, conn)
	if err := conn.Export(manager{l}, "/org/freedesktop/login1", "org.freedesktop.login1.Manager"); err != nil {
		t.Fatal(err)
	}
	dbustest.Own(t, conn, "org.freedesktop.login1")
	return l
}

// watchCallers closes the own copy of a lock once its caller, which has it then, leaves the bus.
func (l *Logind) watchCallers(t testing.TB, conn *dbus.Conn) {
	t.Helper()
	if err := conn.AddMatchSignal(dbus.WithMatchInterface("org.freedesktop.DBus"), dbus.WithMatchMember("NameOwnerChanged")); err != nil {
		t.Fatal(err)
	}
	signals := make(chan *dbus.Signal, locks)
	conn.Signal(signals)
	l.watched.Go(func() {
		for signal := range signals { // it is closed with the connection
			var name, before, now string
			if dbus.Store(signal.Body, &name, &before, &now) != nil || now != "" {
				continue
			}
			l.mu.Lock()
			if given := l.callers[name]; given != nil {
				_ = given.Close()
				delete(l.callers, name)
			}
			l.mu.Unlock()
		}
	})
	t.Cleanup(func() { _ = conn.Close(); l.end(); l.watched.Wait() })
}

// end ends the locks that a failed test leaves.
func (l *Logind) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, given := range l.callers {
		_ = given.Close()
	}
	for _, lock := range l.locks {
		_ = lock.Close()
	}
}

// Refuse has the logind refuse locks for something, as its policy does to users without a session.
func (l *Logind) Refuse(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refused[what] = true
}

// manager is the exported object: its methods are those of the bus.
type manager struct{ logind *Logind }

// Inhibit implements the method of org.freedesktop.login1.Manager. The caller gets one end of a
// pipe, and the lock ends when no process has it open any more.
func (m manager) Inhibit(sender dbus.Sender, what, who, why, mode string) (dbus.UnixFD, *dbus.Error) {
	m.logind.mu.Lock()
	refused := m.logind.refused[what]
	m.logind.mu.Unlock()
	if refused {
		return 0, dbus.NewError("org.freedesktop.DBus.Error.AccessDenied", []any{"Permission denied"})
	}
	if who == "" || why == "" || mode != "block" {
		return 0, dbus.NewError("org.freedesktop.DBus.Error.InvalidArgs", []any{"Invalid arguments"})
	}
	lock, given, err := os.Pipe()
	if err != nil {
		return 0, dbus.MakeFailedError(err)
	}
	file := given.Fd()
	m.logind.mu.Lock()
	m.logind.callers[string(sender)] = given
	m.logind.locks = append(m.logind.locks, lock)
	m.logind.mu.Unlock()
	m.logind.Held <- what
	m.logind.watched.Go(func() {
		_, _ = lock.Read(make([]byte, 1)) // the end of the file: nobody writes
		_ = lock.Close()
		m.logind.Released <- what
	})
	return dbus.UnixFD(file), nil
}
