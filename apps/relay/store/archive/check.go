package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/wire"
)

// Report is the result of Check.
type Report struct {
	Schema int64 `json:"schema"` // current version
	Needed int64 `json:"needed"` // version that this program needs
	store.Counts
	Revoked  int64    `json:"revoked"`  // number of revoked bindings
	Problems []string `json:"problems"` // one sentence each; empty if there are none
}

// Check reads a whole store and reports what is wrong with it. An error means that
// it could not be read.
func Check(ctx context.Context, st store.Archive) (Report, error) {
	report := Report{Problems: []string{}}
	var err error
	if report.Schema, report.Needed, err = st.Schema(ctx); err != nil {
		return report, fmt.Errorf("reading the schema: %w", err)
	}
	if report.Schema != report.Needed {
		report.add("the schema has version %d, and this scorel needs %d: %s", report.Schema, report.Needed, remedy(report.Schema, report.Needed))
		return report, nil
	}
	c := checker{report: &report, valid: map[ident.ID]int{}}
	err = st.Rows(ctx, func(row store.Row) error {
		report.Add(row, 1)
		c.look(row)
		return nil
	})
	if errors.Is(err, store.ErrDamaged) {
		report.add("%v: restore the store from a backup", err)
		return report, nil
	}
	c.crowds()
	return report, err
}

func remedy(have, need int64) string {
	if have > need {
		return "update this program"
	}
	return "run `scorel relay store migrate`"
}

func (r *Report) add(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

type checker struct {
	report *Report
	valid  map[ident.ID]int // valid bindings of each known party
}

func (c *checker) look(row store.Row) {
	switch r := row.(type) {
	case store.PartyRow:
		c.valid[r.ID] = 0
		if err := wire.CheckLabel(r.Label); err != nil {
			c.report.add("%s: %v", r.ID, err)
		}
	case store.BindingRow:
		for _, id := range []ident.ID{r.Device, r.Client} {
			if _, known := c.valid[id]; !known {
				c.report.add("the binding of %s and %s lacks a device or client", r.Device, r.Client)
				return
			}
		}
		if !r.Revoked.IsZero() {
			c.report.Revoked++
			return
		}
		c.valid[r.Device]++
		c.valid[r.Client]++
	case store.Invite:
		if err := r.Check(); err != nil {
			c.report.add("%v", err)
		}
	case store.Event:
		if r.Action != store.ActionBound && r.Action != store.ActionRevoked {
			c.report.add("the audit has the unknown action %q", r.Action)
		}
	}
}

func (c *checker) crowds() {
	for id, n := range c.valid {
		if n > wire.MaxBindings {
			c.report.add("%s has %d valid bindings, more than %d", id, n, wire.MaxBindings)
		}
	}
}
