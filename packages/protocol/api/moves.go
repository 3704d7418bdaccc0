package api

import (
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Limits of a move of a session to another host.
const (
	MaxMoveItems = 400       // items of a move: a log and files of each session
	MaxMoveItem  = 2 << 30   // bytes of one item
	MaxMoveLog   = 512 << 20 // bytes of one log, which is checked in memory
	MaxMoveBytes = 4 << 30   // bytes of all items
	MaxMoveTree  = 1 << 30   // bytes of the git bundle of the files
	MaxMovePart  = 256 << 10 // bytes of one part, before encoding
	// MaxMoveSkipped bounds the names of what a move leaves behind.
	MaxMoveSkipped = 200
)

// MoveState is how far a move is.
type MoveState string

// States of a Move. The session belongs to the host that it leaves until "committed", and to
// the other one from then on.
const (
	MovePrepared  MoveState = "prepared"  // the session is paused, nothing was sent
	MoveSending   MoveState = "sending"   // the data is on its way
	MoveCommitted MoveState = "committed" // the session belongs to the other host, which is being notified
	MoveDone      MoveState = "done"      // the other host has confirmed
	MoveCanceling MoveState = "canceling" // canceled; the other host is being notified
	MoveCanceled  MoveState = "canceled"  // canceled or failed; nothing has changed
)

// DeviceKeys are the public keys of a device or client; its id is their hash.
type DeviceKeys struct {
	Sign ident.SignPublic `json:"signKey"` // Ed25519, base64url
	Seal ident.SealPublic `json:"sealKey"` // X25519, base64url
}

// Kinds of a MoveItem.
const (
	MoveLog   = "log"   // the log of a session
	MoveFiles = "files" // a tar archive of the attached files and process logs of a session
	MoveTree  = "tree"  // a git bundle of the folder that the session works in
)

type (
	// Move is a move of a session to another host, as one of the two hosts knows it.
	Move struct {
		ID        string    `json:"id"` // mov_ and 32 hex digits
		SessionID string    `json:"sessionId"`
		State     MoveState `json:"state"`              // "prepared", "sending", "committed", "done", "canceling" or "canceled"
		From      ident.ID  `json:"from"`               // device that the session leaves
		To        ident.ID  `json:"to"`                 // device that receives it
		Incoming  bool      `json:"incoming,omitempty"` // true on the host that receives it
		Sent      int64     `json:"sent"`               // bytes that the other host has
		Total     int64     `json:"total"`              // bytes
		// Skipped names what is not moved, such as files that scorel did not make.
		Skipped     []string `json:"skipped,omitempty"`
		MoreSkipped int      `json:"moreSkipped,omitempty"` // how many more there are
		// Error is why the move failed, or why it waits.
		Error string `json:"error,omitempty"`
	}
	// MoveItem is one part of what is moved.
	MoveItem struct {
		// Kind is "log", "files", a tar archive of attached files and process logs, or "tree", a
		// git bundle of the session's folder, which comes last.
		Kind      string `json:"kind" req:"max=16"`
		SessionID string `json:"sessionId,omitempty" req:"max=128"` // the session that it belongs to
		// Folder is the path of the session's folder in a bundle; absent for its top.
		Folder string `json:"folder,omitempty" req:"max=4096"`
		Size   int64  `json:"size" req:"min=0,max=2147483648"` // bytes
		SHA256 string `json:"sha256" req:"min=64,max=64"`      // of its bytes, lower-case hex
	}
	// MoveOffer is what the host that a session leaves offers to another one.
	MoveOffer struct {
		MoveID    string     `json:"moveId" req:"min=16,max=64"`
		SessionID string     `json:"sessionId" req:"min=1,max=128"`
		From      DeviceKeys `json:"from"`                      // keys of the device that the session leaves
		Label     string     `json:"label" req:"max=1024"`      // name of that device
		Client    DeviceKeys `json:"client"`                    // keys with which that device connects, as a client
		Items     []MoveItem `json:"items" req:"min=1,max=400"` // the log of the session first
		// Problems counts what a check of the logs had found before the move.
		Problems int `json:"problems,omitempty"`
	}

	// PrepareMoveRequest pauses a session for a move. A running turn ends first if Wait is
	// set; otherwise it is a conflict.
	PrepareMoveRequest struct {
		SessionID string   `json:"sessionId" req:"min=1,max=128"`
		To        ident.ID `json:"to"` // device
		Wait      bool     `json:"wait,omitempty"`
		// WithFiles moves a git bundle of the session's folder too.
		WithFiles bool `json:"withFiles,omitempty"`
	}
	PrepareMoveResponse struct {
		Move  Move      `json:"move"`
		Offer MoveOffer `json:"offer"`
	}
	// AcceptMoveRequest has a host expect a session from another one.
	AcceptMoveRequest struct {
		Offer     MoveOffer `json:"offer"`
		ProjectID string    `json:"projectId" req:"min=1,max=128"`
	}
	// AcceptMoveResponse is what the other host needs to connect.
	AcceptMoveResponse struct {
		Keys  DeviceKeys   `json:"keys"` // of this device
		Paths []Path       `json:"paths"`
		Proof BindingProof `json:"proof"`
	}
	// StartMoveRequest starts a prepared move. Keys are those that the asking client has
	// pinned of the device.
	StartMoveRequest struct {
		MoveID string       `json:"moveId" req:"min=1,max=64"`
		Keys   DeviceKeys   `json:"keys"`
		Paths  []Path       `json:"paths" req:"min=1,max=64"`
		Proof  BindingProof `json:"proof"`
	}
	// MoveRequest names a move.
	MoveRequest struct {
		MoveID string `json:"moveId" req:"min=1,max=64"`
	}
	MoveResponse struct {
		Move Move `json:"move"`
	}
	// ListMovesResponse lists moves, newest first.
	ListMovesResponse struct {
		Moves []Move `json:"moves"`
	}

	// MoveStatusResponse tells the sending host how much of each item has arrived.
	MoveStatusResponse struct {
		State    MoveState `json:"state"`
		Received []int64   `json:"received"`
	}
	// PutMovePartRequest adds a part to an item. One that was received before changes nothing.
	PutMovePartRequest struct {
		MoveID string `json:"moveId" req:"min=1,max=64"`
		Item   int    `json:"item" req:"min=0,max=399"`
		Offset int64  `json:"offset" req:"min=0,max=2147483648"`
		Data   []byte `json:"data" req:"max=349528"`
	}
	PutMovePartResponse struct {
		Received int64 `json:"received"`
	}
	// CheckMoveResponse says that everything has arrived, was checked and is on disk.
	CheckMoveResponse struct {
		Digest string `json:"digest"` // of all items, lower-case hex
	}
	// EndMoveRequest tells the receiving host how a move ended.
	EndMoveRequest struct {
		MoveID  string      `json:"moveId" req:"min=1,max=64"`
		Outcome MoveOutcome `json:"outcome" req:"min=1,max=16"`
	}

	// SessionMoved reports that a session belongs to another device now.
	SessionMoved struct {
		ID       string   `json:"id"`
		DeviceID ident.ID `json:"deviceId"`
	}
)

func (SessionMoved) EventType() string { return "session_moved" }

// MoveOutcome is how a move ended.
type MoveOutcome string

// Outcomes of a move.
const (
	MoveCommit MoveOutcome = "commit" // the session belongs to the receiving host
	MoveAbort  MoveOutcome = "abort"  // it does not: what was received is deleted
	MoveForget MoveOutcome = "forget" // the outcome was confirmed, and nothing more follows
)
