package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/scorel/scorel/apps/relay/store/internal/sqlstore"
	"github.com/scorel/scorel/packages/pgpool"
)

// adapter is a sqlstore.DB.
type adapter struct {
	pool  *pgxpool.Pool
	words pgpool.Explainer
}

func (a adapter) Query(ctx context.Context, s sqlstore.Statement) (sqlstore.Rows, error) {
	rows, err := a.pool.Query(ctx, s.SQL, s.Args...)
	if err != nil {
		return nil, a.words.Explain(err)
	}
	return rows, nil
}

func (a adapter) Exec(ctx context.Context, statements ...sqlstore.Statement) ([]int64, error) {
	changed, err := execAll(ctx, a.pool, statements)
	return changed, a.words.Explain(err)
}

func (a adapter) InTx(ctx context.Context, mode sqlstore.Mode, f func(sqlstore.Querier) error) error {
	var options pgx.TxOptions // read committed: each statement sees what was committed before it
	if mode == sqlstore.Snapshot {
		options = pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	}
	err := pgx.BeginTxFunc(ctx, a.pool, options, func(tx pgx.Tx) error {
		if mode == sqlstore.Exclusive {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(mergeLock)); err != nil {
				return err
			}
		}
		return f(transaction{tx})
	})
	return a.words.Explain(err)
}

type transaction struct{ tx pgx.Tx }

func (t transaction) Query(ctx context.Context, s sqlstore.Statement) (sqlstore.Rows, error) {
	rows, err := t.tx.Query(ctx, s.SQL, s.Args...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (t transaction) Exec(ctx context.Context, statements ...sqlstore.Statement) ([]int64, error) {
	return execAll(ctx, t.tx, statements)
}

// batcher is a pool or a transaction.
type batcher interface {
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// execAll sends all statements at once: a database may be milliseconds away.
func execAll(ctx context.Context, b batcher, statements []sqlstore.Statement) (changed []int64, err error) {
	var batch pgx.Batch
	for _, s := range statements {
		batch.Queue(s.SQL, s.Args...)
	}
	results := b.SendBatch(ctx, &batch)
	defer func() {
		if closeErr := results.Close(); err == nil {
			err = closeErr // otherwise it is the same error again
		}
	}()
	changed = make([]int64, len(statements))
	for i := range statements {
		tag, err := results.Exec()
		if err != nil {
			return nil, err
		}
		changed[i] = tag.RowsAffected()
	}
	return changed, nil
}
