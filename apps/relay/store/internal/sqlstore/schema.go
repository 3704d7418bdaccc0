package sqlstore

import (
	"context"
	"fmt"

	"github.com/pressly/goose/v3"

	"github.com/scorel/scorel/apps/relay/store"
)

// Schema holds the migrations of one database and where their versions are
// recorded.
type Schema struct {
	Provider *goose.Provider
	Exists   Statement // returns 1 if Versions exists, otherwise 0
	Versions string    // table of the versions that were applied
}

// Need returns the version that this program needs.
func (s Schema) Need() int64 {
	sources := s.Provider.ListSources()
	return sources[len(sources)-1].Version // goose rejects an empty list
}

// Have returns the current version, 0 for none. Unlike goose's own query it does
// not create the table of versions.
func (s Schema) Have(ctx context.Context, q Querier) (int64, error) {
	exists, err := one[int64](ctx, q, s.Exists)
	if err != nil || exists == 0 {
		return 0, err
	}
	return one[int64](ctx, q, sql(`SELECT coalesce(max(version_id), 0) FROM `+s.Versions+` WHERE is_applied`))
}

// Up applies the missing migrations. If there are none, it takes no lock: so it is
// cheap when many programs start at once.
func (s Schema) Up(ctx context.Context, q Querier) error {
	have, err := s.Have(ctx, q)
	switch {
	case err != nil:
		return err
	case have == s.Need():
		return nil
	case have > s.Need():
		return s.mismatch(have)
	}
	_, err = s.Provider.Up(ctx)
	return err
}

// Current fails with store.ErrSchema if the schema is not the one needed.
func (s Schema) Current(ctx context.Context, q Querier) error {
	have, err := s.Have(ctx, q)
	if err != nil || have == s.Need() {
		return err
	}
	return s.mismatch(have)
}

func (s Schema) mismatch(have int64) error {
	if have > s.Need() {
		return fmt.Errorf("%w: it has version %d, made by a newer scorel, and this one knows %d: update this program", store.ErrSchema, have, s.Need())
	}
	return fmt.Errorf("%w: it has version %d, and this scorel needs %d: run `scorel relay store migrate`", store.ErrSchema, have, s.Need())
}
