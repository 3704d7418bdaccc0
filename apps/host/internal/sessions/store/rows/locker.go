package rows

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

const (
	// beat is how often the connection that holds the locks is used. Dialects let
	// the server close it when it was not for about a minute, so that the locks of a
	// machine that fell off the network end.
	beat = 15 * time.Second
	// lockTimeout bounds one question on that connection. It is not cut by the
	// asker's context: that would end the connection, and all locks with it.
	lockTimeout = 10 * time.Second
)

// locker holds the locks of all sessions that are open here, on one connection.
type locker struct {
	d    *Dialect
	dbs  Databases
	done chan struct{} // closed when run ended

	turn chan struct{}   // holds one token; whoever took it may use what is below
	conn *sql.Conn       // nil while there is none
	held map[string]bool // id -> conn has the lock; false while it is to be taken again
}

func newLocker(d *Dialect, dbs Databases) *locker {
	l := &locker{d: d, dbs: dbs, done: make(chan struct{}), turn: make(chan struct{}, 1), held: map[string]bool{}}
	l.turn <- struct{}{}
	return l
}

// run keeps the connection alive, and makes another when it ended.
func (l *locker) run(ctx context.Context) {
	defer close(l.done)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			<-l.turn
			l.drop()
			l.turn <- struct{}{}
			return
		case <-ticker.C:
			<-l.turn
			l.beat()
			l.turn <- struct{}{}
		}
	}
}

func (l *locker) beat() {
	if len(l.held) == 0 && l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if l.conn != nil && l.conn.PingContext(ctx) != nil {
		l.drop()
	}
	if err := l.ensure(ctx); err != nil {
		l.dbs.Logger.Warn("the locks of the open sessions cannot be held now", "store", l.d.Name, "error", l.d.Explain(err))
	}
}

// acquire takes the lock of a session; false where somebody has it, here or
// elsewhere.
func (l *locker) acquire(ctx context.Context, id string) (bool, error) {
	select {
	case <-l.turn:
	case <-ctx.Done():
		return false, ctx.Err()
	}
	defer func() { l.turn <- struct{}{} }()
	if _, mine := l.held[id]; mine {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lockTimeout)
	defer cancel()
	err := l.ensure(ctx)
	if err != nil {
		return false, err
	}
	got, err := l.take(ctx, id)
	if err != nil && l.d.ClassOf(err) != Refused { // the connection had ended unnoticed
		l.drop()
		if err = l.ensure(ctx); err == nil {
			got, err = l.take(ctx, id)
		}
	}
	if got {
		l.held[id] = true
	}
	return got, err
}

// release gives the lock of a session back. Where it cannot be said to the server,
// the connection ends, which says it too.
func (l *locker) release(id string) {
	<-l.turn
	defer func() { l.turn <- struct{}{} }()
	has := l.held[id]
	delete(l.held, id)
	if !has || l.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockTimeout)
	defer cancel()
	if _, err := l.conn.ExecContext(ctx, l.d.sql(l.d.Unlock), l.d.LockKey(id)); err != nil {
		l.drop()
		_ = l.ensure(ctx) // the next beat tries it again, and tells
	}
}

// ensure makes the connection if there is none, and takes the locks that it lacks.
// One that somebody else has now is tried again at the next beat: that one's lease
// keeps our log from writing meanwhile.
func (l *locker) ensure(ctx context.Context) error {
	if l.conn == nil {
		conn, err := l.dbs.Locks.Conn(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
		for _, statement := range l.d.Setup {
			_, _ = conn.ExecContext(ctx, statement) // an older server does not know it, and does without
		}
	}
	for id, has := range l.held {
		if has {
			continue
		}
		got, err := l.take(ctx, id)
		if err != nil {
			l.drop()
			return err
		}
		l.held[id] = got
	}
	return nil
}

func (l *locker) take(ctx context.Context, id string) (bool, error) {
	var got sql.NullInt64
	err := l.conn.QueryRowContext(ctx, l.d.sql(l.d.TryLock), l.d.LockKey(id)).Scan(&got)
	return got.Int64 == 1, err
}

// drop ends the connection; the locks are gone with it.
func (l *locker) drop() {
	if l.conn == nil {
		return
	}
	// It must not go back to the pool with its locks.
	_ = l.conn.Raw(func(any) error { return errDrop })
	_ = l.conn.Close()
	l.conn = nil
	for id := range l.held {
		l.held[id] = false
	}
}

var errDrop = driver.ErrBadConn // database/sql then closes the connection
