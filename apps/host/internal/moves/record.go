package moves

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/session"
)

// record is what a host knows of a move after a restart.
type record struct {
	ID        string        `json:"id"`
	SessionID string        `json:"sessionId"`
	Family    []string      `json:"family"` // the session and those of its subagents, parents first
	ProjectID string        `json:"projectId"`
	Incoming  bool          `json:"incoming,omitempty"`
	State     api.MoveState `json:"state"`
	From      ident.ID      `json:"from"`
	To        ident.ID      `json:"to"`
	Offer     api.MoveOffer `json:"offer"`
	// Start is how the target is reached, on the source.
	Start       *api.StartMoveRequest `json:"start,omitempty"`
	Client      ident.ID              `json:"client,omitzero"` // the source, on the target
	Skipped     []string              `json:"skipped,omitempty"`
	MoreSkipped int                   `json:"moreSkipped,omitempty"`
	// TreeError is why the target did not unpack the files, or "".
	TreeError   string `json:"treeError,omitempty"`
	Error       string `json:"error,omitempty"`
	Cleaned     bool   `json:"cleaned,omitempty"`     // the source has removed the session
	GaveUp      bool   `json:"gaveUp,omitempty"`      // the target, which never heard again
	CreatedAt   int64  `json:"createdAt"`             // Unix milliseconds
	ConfirmedAt int64  `json:"confirmedAt,omitempty"` // by the target; Unix milliseconds
	EndedAt     int64  `json:"endedAt,omitempty"`     // Unix milliseconds
}

// active reports whether this host has to do something for the move.
func (r record) active() bool {
	if r.Incoming {
		return r.State == api.MoveCommitted
	}
	switch r.State {
	case api.MoveSending, api.MoveCommitted, api.MoveCanceling:
		return true
	case api.MoveDone:
		return !r.Cleaned
	}
	return false
}

// ended reports whether nothing follows but that records are forgotten.
func (r record) ended() bool { return r.State == api.MoveDone || r.State == api.MoveCanceled }

func (r record) handover() session.MovedRecord {
	return session.MovedRecord{MoveID: r.ID, From: r.From.String(), To: r.To.String()}
}

func (r record) total() (total int64) {
	for _, item := range r.Offer.Items {
		total += item.Size
	}
	return total
}

const recordName = "record.json"

func readRecord(folder string) (r record, err error) {
	data, err := os.ReadFile(filepath.Join(folder, recordName))
	if err == nil {
		err = exactjson.Unmarshal(data, &r)
	}
	if err == nil && r.ID != filepath.Base(folder) {
		err = errors.New("it names another move")
	}
	if err != nil {
		return r, fmt.Errorf("moves: reading the record in %s: %w", folder, err)
	}
	return r, nil
}

func writeRecord(folder string, r record) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = atomicfile.Write(filepath.Join(folder, recordName), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("moves: storing a record: %w", err)
	}
	return nil
}

// removeFolder removes the files of a move, the record last: a crash leaves a move with a record,
// or a folder that is removed at the next start.
func removeFolder(folder string) error {
	if err := removeItems(folder); err != nil {
		return err
	}
	return os.RemoveAll(folder)
}

// removeItems removes what a move has stored, and keeps its record.
func removeItems(folder string) error {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.Name() != recordName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(folder, entry.Name())))
		}
	}
	return err
}
