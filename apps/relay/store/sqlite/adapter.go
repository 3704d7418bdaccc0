package sqlite

import (
	"context"
	"database/sql"

	"github.com/scorel/scorel/apps/relay/store/internal/sqlstore"
)

// adapter is a sqlstore.DB.
type adapter struct{ db *sql.DB }

func (a adapter) Query(ctx context.Context, s sqlstore.Statement) (sqlstore.Rows, error) {
	return query(ctx, a.db, s)
}

func (a adapter) Exec(ctx context.Context, statements ...sqlstore.Statement) ([]int64, error) {
	return execAll(ctx, a.db, statements)
}

// InTx needs nothing else for Exclusive: the file has only one writer at a time.
func (a adapter) InTx(ctx context.Context, mode sqlstore.Mode, f func(sqlstore.Querier) error) error {
	tx, err := a.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: mode == sqlstore.Snapshot})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after the commit
	if err := f(transaction{tx}); err != nil {
		return err
	}
	return tx.Commit()
}

type transaction struct{ tx *sql.Tx }

func (t transaction) Query(ctx context.Context, s sqlstore.Statement) (sqlstore.Rows, error) {
	return query(ctx, t.tx, s)
}

func (t transaction) Exec(ctx context.Context, statements ...sqlstore.Statement) ([]int64, error) {
	return execAll(ctx, t.tx, statements)
}

// runner is a *sql.DB or a *sql.Tx.
type runner interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

type rows struct{ *sql.Rows }

func (r rows) Close() { _ = r.Rows.Close() } // Err returns the error

func query(ctx context.Context, r runner, s sqlstore.Statement) (sqlstore.Rows, error) {
	result, err := r.QueryContext(ctx, s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	return rows{result}, nil
}

func execAll(ctx context.Context, r runner, statements []sqlstore.Statement) ([]int64, error) {
	changed := make([]int64, len(statements))
	for i, s := range statements {
		result, err := r.ExecContext(ctx, s.SQL, s.Args...)
		if err != nil {
			return nil, err
		}
		if changed[i], err = result.RowsAffected(); err != nil {
			return nil, err
		}
	}
	return changed, nil
}
