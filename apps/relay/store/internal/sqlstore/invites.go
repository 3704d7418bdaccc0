package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
)

const selectInvites = `SELECT id, hash, uses, used, created_at, expires_at, revoked_at FROM invites`

// errKnown rolls back the transaction of Admit.
var errKnown = errors.New("sqlstore: the party is known")

// Admit implements store.Store. The party is written before its invite is used: of
// two logins of one new party the second waits, and finds it known.
func (s *Store) Admit(ctx context.Context, p store.Party, invite store.InviteHash, at time.Time) error {
	known, err := one[int64](ctx, s.db, sql(`SELECT count(*) FROM `+tableOf(p.ID)+` WHERE id = $1`, p.ID.String()))
	if err != nil || known > 0 {
		return s.fail("looking for a party", err)
	}
	err = s.db.InTx(ctx, Write, func(tx Querier) error {
		added, err := tx.Exec(ctx, insertParty(p, at, `DO NOTHING`))
		if err != nil {
			return err
		}
		if added[0] == 0 {
			return errKnown
		}
		return useInvite(ctx, tx, invite, at)
	})
	if errors.Is(err, errKnown) {
		return nil
	}
	return s.fail("admitting", err)
}

// useInvite takes one use in the same statement that checks whether one is left.
func useInvite(ctx context.Context, tx Querier, hash store.InviteHash, at time.Time) error {
	used, err := tx.Exec(ctx, sql(`UPDATE invites SET used = used + 1
		WHERE hash = $1 AND used < uses AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)`, hash[:], at.UnixMicro()))
	if err != nil || used[0] == 1 {
		return err
	}
	found, err := collect(ctx, tx, sql(selectInvites+` WHERE hash = $1`, hash[:]), scanInvite)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return &store.InviteError{State: store.InviteUnknown}
	}
	return &store.InviteError{State: found[0].State(at)}
}

// AddInvite implements store.Inviter.
func (s *Store) AddInvite(ctx context.Context, i store.Invite) error {
	_, err := s.db.Exec(ctx, putInvite(i))
	return s.fail("storing an invite", err)
}

func putInvite(i store.Invite) Statement {
	return sql(`INSERT INTO invites (id, hash, uses, used, created_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
		i.ID, i.Hash[:], int64(i.Uses), int64(i.Used), i.Created.UnixMicro(), microsOrNull(i.Expires), microsOrNull(i.Revoked))
}

// mergeInvite applies restrictions of an existing invite from elsewhere, and never
// extends it.
func mergeInvite(i store.Invite) Statement {
	put := putInvite(i)
	put.SQL += ` ON CONFLICT (id) DO UPDATE SET
			used = CASE WHEN excluded.used > invites.used THEN excluded.used ELSE invites.used END,
			revoked_at = CASE WHEN invites.revoked_at IS NULL OR excluded.revoked_at < invites.revoked_at
				THEN excluded.revoked_at ELSE invites.revoked_at END
		WHERE excluded.used > invites.used OR excluded.revoked_at IS NOT NULL
			AND (invites.revoked_at IS NULL OR excluded.revoked_at < invites.revoked_at)`
	return put
}

// Invites implements store.Inviter.
func (s *Store) Invites(ctx context.Context) ([]store.Invite, error) {
	invites, err := collect(ctx, s.db, sql(selectInvites+` ORDER BY created_at DESC, id`), scanInvite)
	return invites, s.fail("reading invites", err)
}

// RevokeInvite implements store.Inviter.
func (s *Store) RevokeInvite(ctx context.Context, id string, at time.Time) error {
	n, err := s.db.Exec(ctx, sql(`UPDATE invites SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL`, id, at.UnixMicro()))
	if err == nil && n[0] == 0 {
		err = store.ErrNotFound
	}
	return s.fail("revoking an invite", err)
}

func microsOrNull(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	at := t.UnixMicro()
	return &at
}

func timeOrZero(micros *int64) time.Time {
	if micros == nil {
		return time.Time{}
	}
	return time.UnixMicro(*micros).UTC()
}

func scanInvite(rows Rows) (store.Invite, error) {
	var (
		i                store.Invite
		hash             []byte
		uses, used       int64
		created          int64
		expires, revoked *int64
	)
	if err := rows.Scan(&i.ID, &hash, &uses, &used, &created, &expires, &revoked); err != nil {
		return i, err
	}
	if len(hash) != len(i.Hash) {
		return i, fmt.Errorf("%w: invite %s", store.ErrDamaged, i.ID)
	}
	copy(i.Hash[:], hash)
	i.Uses, i.Used, i.Created = int(uses), int(used), time.UnixMicro(created).UTC()
	i.Expires, i.Revoked = timeOrZero(expires), timeOrZero(revoked)
	return i, nil
}
