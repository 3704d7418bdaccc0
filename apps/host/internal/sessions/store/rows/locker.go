package rows

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"time"
)

const (
	// beat is how often the connection that holds the locks is used. Dialects make the server
	// close it after about a minute without use, so that the locks of a disconnected machine
	// are released.
	beat = 15 * time.Second
	// lockTimeout bounds one query on that connection. The caller's context does not apply,
	// because canceling it would close the connection and release all locks.
	lockTimeout = 10 * time.Second
)

// locker holds the locks of all sessions that are open here, on one connection.
type locker struct {
	d    *Dialect
	dbs  Databases
	done chan struct{} // closed when run ended

	turn chan struct{}   // holds one token; its holder may use the fields below
	conn *sql.Conn       // nil while there is none
	held map[string]bool // id -> conn has the lock; false while it has to be acquired again
}

func newLocker(d *Dialect, dbs Databases) *locker {
	l := &locker{d: d, dbs: dbs, done: make(chan struct{}), turn: make(chan struct{}, 1), held: map[string]bool{}}
	l.turn <- struct{}{}
	return l
}

// run keeps the connection alive, and replaces it when it ended.
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
		l.dbs.Logger.Warn("the locks of open sessions were lost; they are taken again", "store", l.d.Name, "error", l.d.Explain(err))
	}
}

// acquire acquires the lock of a session; false if it is held, here or elsewhere.
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

// release releases the lock of a session. If the server cannot be reached, the connection is
// closed, which releases it too.
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
		_ = l.ensure(ctx) // the next beat retries and logs a failure
	}
}

// ensure creates the connection if necessary, and acquires missing locks. A lock that another
// host holds now is retried at the next beat; the lease of that host prevents writes to our log
// in the meantime.
func (l *locker) ensure(ctx context.Context) error {
	if l.conn == nil {
		conn, err := l.dbs.Locks.Conn(ctx)
		if err != nil {
			return err
		}
		l.conn = conn
		for _, statement := range l.d.Setup {
			_, _ = conn.ExecContext(ctx, statement) // an older server does not support it
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

// drop closes the connection, which releases the locks.
func (l *locker) drop() {
	if l.conn == nil {
		return
	}
	// It must not return to the pool with its locks.
	_ = l.conn.Raw(func(any) error { return errDrop })
	_ = l.conn.Close()
	l.conn = nil
	for id := range l.held {
		l.held[id] = false
	}
}

var errDrop = driver.ErrBadConn // database/sql then closes the connection
