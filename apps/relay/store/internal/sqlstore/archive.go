package sqlstore

import (
	"context"
	"fmt"
	"iter"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Rows implements store.Archive.
func (s *Store) Rows(ctx context.Context, yield func(store.Row) error) error {
	parties := func(rows Rows) (store.Row, error) { return scanPartyRow(rows) }
	err := s.db.InTx(ctx, Snapshot, func(tx Querier) error {
		for _, part := range []struct {
			query string
			scan  func(Rows) (store.Row, error)
		}{
			{`SELECT id, sign_key, seal_key, label, created_at FROM devices ORDER BY id`, parties},
			{`SELECT id, sign_key, seal_key, label, created_at FROM clients ORDER BY id`, parties},
			{`SELECT device_id, client_id, created_at, revoked_at FROM bindings ORDER BY device_id, client_id`,
				func(rows Rows) (store.Row, error) { return scanBindingRow(rows) }},
			{selectEvents + ` ORDER BY at, id`,
				func(rows Rows) (store.Row, error) { return scanEvent(rows) }},
			{selectInvites + ` ORDER BY id`,
				func(rows Rows) (store.Row, error) { return scanInvite(rows) }},
		} {
			if err := each(ctx, tx, sql(part.query), func(rows Rows) error {
				row, err := part.scan(rows)
				if err != nil {
					return err
				}
				return yield(row)
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return s.fail("reading all rows", err)
}

// mergeBatch is how many rows go to the database at once.
const mergeBatch = 500

// Merge implements store.Archive.
func (s *Store) Merge(ctx context.Context, rows iter.Seq2[store.Row, error]) (store.Counts, error) {
	var changed store.Counts
	var unread error // of the rows, for which the store is not at fault
	err := s.db.InTx(ctx, Exclusive, func(tx Querier) error {
		batch := merger{tx: tx, changed: &changed}
		for row, err := range rows {
			if unread = err; err != nil {
				return err
			}
			if err := batch.add(ctx, row); err != nil {
				return err
			}
		}
		if err := batch.flush(ctx); err != nil {
			return err
		}
		return checkCrowds(ctx, tx)
	})
	switch {
	case unread != nil:
		return store.Counts{}, unread
	case err != nil:
		return store.Counts{}, s.fail("merging", err)
	}
	return changed, nil
}

type merger struct {
	tx         Querier
	changed    *store.Counts
	rows       []store.Row
	statements []Statement
}

func (m *merger) add(ctx context.Context, row store.Row) error {
	if invite, ok := row.(store.Invite); ok {
		return m.addInvite(ctx, invite)
	}
	m.rows = append(m.rows, row)
	m.statements = append(m.statements, mergeStatement(row))
	if len(m.rows) < mergeBatch {
		return nil
	}
	return m.flush(ctx)
}

func (m *merger) flush(ctx context.Context) error {
	if len(m.rows) == 0 {
		return nil
	}
	changed, err := m.tx.Exec(ctx, m.statements...)
	if err != nil {
		return err
	}
	for i, n := range changed {
		m.changed.Add(m.rows[i], n)
	}
	m.rows, m.statements = m.rows[:0], m.statements[:0]
	return nil
}

// addInvite reads before it writes: for two different invites the database would
// name a constraint instead of the invite. There are few of them.
func (m *merger) addInvite(ctx context.Context, i store.Invite) error {
	if err := m.flush(ctx); err != nil { // write the earlier rows of the stream first
		return err
	}
	others, err := one[int64](ctx, m.tx, sql(`SELECT count(*) FROM invites WHERE (id = $1 OR hash = $2)
		AND NOT (id = $1 AND hash = $2 AND uses = $3 AND created_at = $4 AND expires_at IS NOT DISTINCT FROM $5)`,
		i.ID, i.Hash[:], int64(i.Uses), i.Created.UnixMicro(), microsOrNull(i.Expires)))
	if err != nil {
		return err
	}
	if others > 0 {
		return fmt.Errorf("%w: the store has a different invite with the id %s or with its code", store.ErrConflict, i.ID)
	}
	m.rows, m.statements = append(m.rows, i), append(m.statements, mergeInvite(i))
	return m.flush(ctx)
}

// lastOf returns SQL for the time of the last event of a binding. Clocks of two
// nodes may differ, so an end can seem to precede the beginning.
func lastOf(row string) string {
	return `(CASE WHEN ` + row + `.revoked_at > ` + row + `.created_at THEN ` + row + `.revoked_at ELSE ` + row + `.created_at END)`
}

func mergeStatement(row store.Row) Statement {
	switch r := row.(type) {
	case store.PartyRow:
		return insertParty(r.Party, r.Created, `DO NOTHING`)
	case store.BindingRow:
		var revoked *int64
		if !r.Revoked.IsZero() {
			at := r.Revoked.UnixMicro()
			revoked = &at
		}
		theirs, ours := lastOf("excluded"), lastOf("bindings")
		return sql(`INSERT INTO bindings (device_id, client_id, created_at, revoked_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT (device_id, client_id) DO UPDATE SET created_at = excluded.created_at, revoked_at = excluded.revoked_at
			WHERE `+theirs+` > `+ours+` OR `+theirs+` = `+ours+` AND excluded.revoked_at IS NOT NULL AND bindings.revoked_at IS NULL`,
			r.Device.String(), r.Client.String(), r.Created.UnixMicro(), revoked)
	case store.Event:
		put := putEvent(r)
		put.SQL = `INSERT INTO audit (at, action, device_id, client_id, actor_id)
			SELECT CAST($1 AS BIGINT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), CAST($5 AS TEXT)
			WHERE NOT EXISTS (SELECT 1 FROM audit WHERE at = $1 AND action = $2 AND device_id = $3 AND client_id = $4 AND actor_id = $5)`
		return put
	}
	panic(fmt.Sprintf("sqlstore: a row of type %T", row)) // Row has no other implementations
}

// checkCrowds enforces for all rows the limit that Bind enforces for one.
func checkCrowds(ctx context.Context, tx Querier) error {
	crowded, err := one[int64](ctx, tx, sql(`SELECT count(*) FROM (
		SELECT device_id FROM bindings WHERE revoked_at IS NULL GROUP BY device_id HAVING count(*) > $1
		UNION ALL
		SELECT client_id FROM bindings WHERE revoked_at IS NULL GROUP BY client_id HAVING count(*) > $1) AS crowded`, int64(wire.MaxBindings)))
	if err != nil {
		return err
	}
	if crowded > 0 {
		return fmt.Errorf("%w: %d devices or clients would have more than %d", store.ErrLimit, crowded, wire.MaxBindings)
	}
	return nil
}
