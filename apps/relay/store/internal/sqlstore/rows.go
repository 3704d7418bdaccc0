package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

const (
	clientsOfDevice = `SELECT c.id, c.sign_key, c.seal_key, c.label FROM bindings b JOIN clients c ON c.id = b.client_id
		WHERE b.device_id = $1 AND b.revoked_at IS NULL`
	devicesOfClient = `SELECT d.id, d.sign_key, d.seal_key, d.label FROM bindings b JOIN devices d ON d.id = b.device_id
		WHERE b.client_id = $1 AND b.revoked_at IS NULL`
	selectEvents = `SELECT at, action, device_id, client_id, actor_id FROM audit`
)

func sql(text string, args ...any) Statement { return Statement{SQL: text, Args: args} }

// tableOf returns the table of a party, which is a constant and not user input.
func tableOf(id ident.ID) string {
	if id.Kind() == ident.KindClient {
		return "clients"
	}
	return "devices"
}

// insertParty returns an INSERT that needs a conflict clause for an existing party.
func insertParty(p store.Party, at time.Time, onConflict string) Statement {
	return sql(`INSERT INTO `+tableOf(p.ID)+` (id, sign_key, seal_key, label, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (id) `+onConflict, p.ID.String(), p.Sign[:], p.Seal[:], p.Label, at.UnixMicro())
}

func putParty(p store.Party, at time.Time) Statement {
	return insertParty(p, at, `DO UPDATE SET label = excluded.label`)
}

func putEvent(e store.Event) Statement {
	return sql(`INSERT INTO audit (at, action, device_id, client_id, actor_id) VALUES ($1, $2, $3, $4, $5)`,
		e.At.UnixMicro(), string(e.Action), e.Device.String(), e.Client.String(), e.Actor.String())
}

// each calls f for every row of a query.
func each(ctx context.Context, q Querier, s Statement, f func(Rows) error) error {
	rows, err := q.Query(ctx, s)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := f(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

func collect[T any](ctx context.Context, q Querier, s Statement, scan func(Rows) (T, error)) ([]T, error) {
	var out []T
	err := each(ctx, q, s, func(rows Rows) error {
		v, err := scan(rows)
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err // a partial answer must not become an authorization
	}
	return out, nil
}

// one runs a query that returns a single value.
func one[T any](ctx context.Context, q Querier, s Statement) (T, error) {
	var zero T
	values, err := collect(ctx, q, s, func(rows Rows) (v T, err error) { return v, rows.Scan(&v) })
	switch {
	case err != nil:
		return zero, err
	case len(values) != 1:
		return zero, errors.New("the query did not answer with one row")
	}
	return values[0], nil
}

// rawParty is the columns of a party.
type rawParty struct {
	id, label        string
	signKey, sealKey []byte
}

// party rejects keys that do not match the id: a damaged row must not become an
// authorization.
func (r rawParty) party() (store.Party, error) {
	id, err := ident.ParseID(r.id)
	if err != nil {
		return store.Party{}, fmt.Errorf("%w: %w", store.ErrDamaged, err)
	}
	p := store.Party{ID: id, Label: r.label}
	if len(r.signKey) != ident.KeyLen || len(r.sealKey) != ident.KeyLen {
		return store.Party{}, fmt.Errorf("%w: keys of %s are damaged", store.ErrDamaged, id)
	}
	copy(p.Sign[:], r.signKey)
	copy(p.Seal[:], r.sealKey)
	if ident.NewID(id.Kind(), p.Public) != id {
		return store.Party{}, fmt.Errorf("%w: keys of %s are damaged", store.ErrDamaged, id)
	}
	return p, nil
}

func scanParty(rows Rows) (store.Party, error) {
	var raw rawParty
	if err := rows.Scan(&raw.id, &raw.signKey, &raw.sealKey, &raw.label); err != nil {
		return store.Party{}, err
	}
	return raw.party()
}

func scanPartyRow(rows Rows) (store.PartyRow, error) {
	var (
		raw rawParty
		at  int64
	)
	if err := rows.Scan(&raw.id, &raw.signKey, &raw.sealKey, &raw.label, &at); err != nil {
		return store.PartyRow{}, err
	}
	p, err := raw.party()
	return store.PartyRow{Party: p, Created: time.UnixMicro(at).UTC()}, err
}

func scanBindingRow(rows Rows) (store.BindingRow, error) {
	var (
		device, client string
		created        int64
		revoked        *int64
		b              store.BindingRow
	)
	if err := rows.Scan(&device, &client, &created, &revoked); err != nil {
		return b, err
	}
	b.Created = time.UnixMicro(created).UTC()
	if revoked != nil {
		b.Revoked = time.UnixMicro(*revoked).UTC()
	}
	var err error
	if b.Device, err = ident.ParseDeviceID(device); err == nil {
		b.Client, err = ident.ParseClientID(client)
	}
	if err != nil {
		return b, fmt.Errorf("%w: binding of %q and %q: %w", store.ErrDamaged, device, client, err)
	}
	return b, nil
}

func scanEvent(rows Rows) (store.Event, error) {
	var (
		e                             store.Event
		at                            int64
		action, device, client, actor string
	)
	if err := rows.Scan(&at, &action, &device, &client, &actor); err != nil {
		return e, err
	}
	e.At, e.Action = time.UnixMicro(at).UTC(), store.Action(action)
	for _, field := range []struct {
		id   *ident.ID
		text string
	}{{&e.Device, device}, {&e.Client, client}, {&e.Actor, actor}} {
		if err := field.id.UnmarshalText([]byte(field.text)); err != nil {
			return e, fmt.Errorf("%w: event of %s: %w", store.ErrDamaged, e.At.Format(time.RFC3339), err)
		}
	}
	return e, nil
}
