package sessions

import (
	"context"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Update changes what people note of the session: its title, whether it is archived or
// pinned, and its metadata. Nothing is written where nothing changes. A worktree is removed when
// the session goes into the archive, if nothing is lost, and made again when it leaves it.
func (e *settings) Update(ctx context.Context, clientID string, r api.UpdateSessionRequest) (summary api.SessionSummary, err error) {
	if err := checkMeta(r.Meta); err != nil {
		return summary, err
	}
	if r.Title != nil {
		if err := checkName(*r.Title); err != nil {
			return summary, err
		}
	}
	if r.Archived != nil && !*r.Archived && e.Worktree() != nil {
		if _, err := e.deps.Worktrees.Enter(ctx, e.id); err != nil {
			return summary, err
		}
	}
	busy := false
	err = e.change(ctx, func() error {
		busy = e.activity().running || len(e.live.Processes) > 0
		return e.update(clientID, r)
	})
	if err != nil {
		return summary, err
	}
	if r.Archived != nil && *r.Archived && e.Worktree() != nil { // also again, after the reason to keep it is gone
		e.deps.Worktrees.Leave(context.WithoutCancel(ctx), e.id, busy)
	}
	return inside(ctx, &e.owner, func() (api.SessionSummary, error) {
		e.updateSummary()
		return e.others.withSubagents(e.summary), nil
	})
}

func (e *settings) update(clientID string, r api.UpdateSessionRequest) error {
	before := session.MetaRecord{Archived: e.digest.Archived, Pinned: e.digest.Pinned, Meta: e.digest.Meta}
	after := before
	if r.Archived != nil {
		after.Archived = *r.Archived
	}
	if r.Pinned != nil {
		after.Pinned = *r.Pinned
	}
	if after.Meta = mergeMeta(before.Meta, r.Meta); len(after.Meta) > api.MaxMeta {
		return api.Errorf(api.KindTooLarge, "the session would have %d keys of metadata, the limit is %d: remove some", len(after.Meta), api.MaxMeta)
	}
	if r.Title != nil {
		if err := e.storeName(clientID, *r.Title); err != nil {
			return err
		}
	}
	return e.storeMeta(clientID, before, after)
}

// storeMeta writes what people note of the session, where it changes.
func (e *settings) storeMeta(clientID string, before, after session.MetaRecord) error {
	if before.Archived == after.Archived && before.Pinned == after.Pinned && maps.Equal(before.Meta, after.Meta) {
		return nil
	}
	err := e.appendCustom(session.CustomMeta, after, clientID)
	e.updateSummary()
	return err
}

// unarchive takes a session out of the archive in which a prompt came.
func (e *settings) unarchive(clientID string) {
	if !e.digest.Archived {
		return
	}
	before := session.MetaRecord{Archived: true, Pinned: e.digest.Pinned, Meta: e.digest.Meta}
	after := before
	after.Archived = false
	if err := e.storeMeta(clientID, before, after); err != nil {
		e.logger.Error("unarchiving a session", "session", e.id, "error", err)
	}
}

// mergeMeta sets keys, and removes those with an empty value. The input is not changed.
func mergeMeta(before, change map[string]string) map[string]string {
	after := maps.Clone(before)
	for key, value := range change {
		if value == "" {
			delete(after, key)
			continue
		}
		if after == nil {
			after = map[string]string{}
		}
		after[key] = value
	}
	return after
}

func checkMeta(meta map[string]string) error {
	if len(meta) > 2*api.MaxMeta {
		return api.Errorf(api.KindTooLarge, "meta has %d keys, the limit of a session is %d", len(meta), api.MaxMeta)
	}
	for key, value := range meta {
		switch {
		case key == "" || len(key) > api.MaxMetaKey || strings.Trim(key, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "":
			return api.Errorf(api.KindBadRequest, "the key %.80q must have 1 to %d letters, digits, dots, hyphens or underscores", key, api.MaxMetaKey)
		case len(value) > api.MaxMetaValue:
			return api.Errorf(api.KindTooLarge, "the value of %q has %d bytes, the limit is %d", key, len(value), api.MaxMetaValue)
		case !utf8.ValidString(value):
			return api.Errorf(api.KindBadRequest, "the value of %q is not UTF-8", key)
		}
	}
	return nil
}
