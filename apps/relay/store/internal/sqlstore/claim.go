package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Party implements store.Store.
func (s *Store) Party(ctx context.Context, id ident.ID) (store.Party, error) {
	found, err := collect(ctx, s.db, sql(`SELECT id, sign_key, seal_key, label FROM `+tableOf(id)+` WHERE id = $1`, id.String()), scanParty)
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Party{}, s.fail("reading a party", err)
	}
	return found[0], nil
}

// Claim implements store.Store. One statement compares the times and writes: a revocation
// that runs at the same time comes either before it or after it.
func (s *Store) Claim(ctx context.Context, device, client store.Party, signed, at time.Time) (wrote bool, err error) {
	err = s.db.InTx(ctx, Write, func(tx Querier) error {
		if wrote, err = claim(ctx, tx, device, client, signed, at); err != nil || !wrote {
			return err
		}
		_, err := tx.Exec(ctx, putEvent(store.Event{At: at, Action: store.ActionBound, Device: device.ID, Client: client.ID, Actor: client.ID}))
		return err
	})
	return wrote && err == nil, s.fail("claiming", err)
}

func claim(ctx context.Context, tx Querier, device, client store.Party, signed, at time.Time) (bool, error) {
	if _, err := tx.Exec(ctx, putParty(device, at), putParty(client, at)); err != nil {
		return false, err
	}
	n, err := tx.Exec(ctx, sql(`INSERT INTO bindings (device_id, client_id, created_at) VALUES ($1, $2, $3)
		ON CONFLICT (device_id, client_id) DO UPDATE SET created_at = excluded.created_at, revoked_at = NULL
		WHERE bindings.revoked_at < $4`, device.ID.String(), client.ID.String(), at.UnixMicro(), signed.UnixMicro()))
	if err != nil {
		return false, err
	}
	if n[0] > 0 {
		return true, checkRoom(ctx, tx, device.ID, client.ID)
	}
	valid, err := one[int64](ctx, tx, sql(`SELECT count(*) FROM bindings WHERE device_id = $1 AND client_id = $2 AND revoked_at IS NULL`,
		device.ID.String(), client.ID.String()))
	if err == nil && valid == 0 {
		err = fmt.Errorf("%w at %s", store.ErrRevoked, signed.UTC().Format(time.RFC3339))
	}
	return false, err
}
