// Package archive moves the state of a relay from one store to another and checks
// it. An export is a stream of JSON lines, so it can be read, searched and piped:
//
//	{"type":"scorel_relay_export","version":2}
//	{"type":"device","id":"dev_...","signKey":"...","sealKey":"...","label":"...","createdAt":1793880000000000}
//	{"type":"client", as a device}
//	{"type":"binding","deviceId":"dev_...","clientId":"cli_...","createdAt":...,"revokedAt":...}
//	{"type":"event","at":...,"action":"bound","deviceId":"dev_...","clientId":"cli_...","actorId":"cli_..."}
//	{"type":"invite","id":"inv_...","hash":"...","uses":3,"used":1,"createdAt":...,"expiresAt":...,"revokedAt":...}
//	{"type":"end","devices":1,"clients":1,"bindings":1,"events":1,"invites":1}
//
// Times are Unix microseconds. revokedAt is absent while a binding or an invite is
// valid, expiresAt if an invite does not expire, actorId if it was not revoked. A party
// comes before the rows that name it. The last line counts the others: a stream
// without it is incomplete and is refused. Version 1, which has no invites, can
// also be read.
//
// It contains no private key, no invite code and no content of sessions, but it
// reveals who may reach whom: protect it like the store.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Version is the version of the stream that Export writes. Read also accepts older
// ones.
const Version = 2

// withInvites is the first version that has invites.
const withInvites = 2

const (
	typeHead    = "scorel_relay_export"
	typeDevice  = "device"
	typeClient  = "client"
	typeBinding = "binding"
	typeEvent   = "event"
	typeInvite  = "invite"
	typeEnd     = "end"
)

type headLine struct {
	Type    string `json:"type"`
	Version int    `json:"version"`
}

type partyLine struct {
	Type      string           `json:"type"`
	ID        ident.ID         `json:"id"`
	SignKey   ident.SignPublic `json:"signKey"`
	SealKey   ident.SealPublic `json:"sealKey"`
	Label     string           `json:"label"`
	CreatedAt int64            `json:"createdAt"`
}

type bindingLine struct {
	Type      string   `json:"type"`
	DeviceID  ident.ID `json:"deviceId"`
	ClientID  ident.ID `json:"clientId"`
	CreatedAt int64    `json:"createdAt"`
	RevokedAt *int64   `json:"revokedAt,omitempty"`
}

type eventLine struct {
	Type     string       `json:"type"`
	At       int64        `json:"at"`
	Action   store.Action `json:"action"`
	DeviceID ident.ID     `json:"deviceId"`
	ClientID ident.ID     `json:"clientId"`
	ActorID  ident.ID     `json:"actorId,omitzero"`
}

type inviteLine struct {
	Type      string           `json:"type"`
	ID        string           `json:"id"`
	Hash      store.InviteHash `json:"hash"`
	Uses      int              `json:"uses"`
	Used      int              `json:"used"`
	CreatedAt int64            `json:"createdAt"`
	ExpiresAt *int64           `json:"expiresAt,omitempty"`
	RevokedAt *int64           `json:"revokedAt,omitempty"`
}

type endLine struct {
	Type string `json:"type"`
	store.Counts
}

// Import merges a stream into a store and counts its rows and those that changed
// something. It is all or nothing, and repeating it changes nothing.
func Import(ctx context.Context, to store.Archive, r io.Reader) (read, changed store.Counts, err error) {
	changed, err = to.Merge(ctx, func(yield func(store.Row, error) bool) {
		for row, err := range Read(r) {
			if err == nil {
				read.Add(row, 1)
			}
			if !yield(row, err) {
				return
			}
		}
	})
	return read, changed, err
}

func micros(at int64) time.Time { return time.UnixMicro(at).UTC() }

// ending parses a time that is left out while there is no end. Go's zero time would
// become none and revive what has ended.
func ending(at *int64) (time.Time, error) {
	if at == nil {
		return time.Time{}, nil
	}
	end := micros(*at)
	if end.IsZero() {
		return end, errors.New("nothing ended in the year 1")
	}
	return end, nil
}

func microsOrNil(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	at := t.UnixMicro()
	return &at
}

// toLine returns the form of a row in the stream.
func toLine(row store.Row) (any, error) {
	switch r := row.(type) {
	case store.PartyRow:
		kind := typeDevice
		if r.ID.Kind() == ident.KindClient {
			kind = typeClient
		}
		return partyLine{kind, r.ID, r.Sign, r.Seal, r.Label, r.Created.UnixMicro()}, nil
	case store.BindingRow:
		return bindingLine{typeBinding, r.Device, r.Client, r.Created.UnixMicro(), microsOrNil(r.Revoked)}, nil
	case store.Event:
		return eventLine{typeEvent, r.At.UnixMicro(), r.Action, r.Device, r.Client, r.Actor}, nil
	case store.Invite:
		return inviteLine{typeInvite, r.ID, r.Hash, r.Uses, r.Used, r.Created.UnixMicro(), microsOrNil(r.Expires), microsOrNil(r.Revoked)}, nil
	}
	return nil, fmt.Errorf("archive: a row of type %T has no line", row)
}
