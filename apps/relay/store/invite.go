package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/wire"
)

const (
	// inviteBytes is the entropy of an invite. 80 bits cannot be guessed, and a
	// plain hash of them reveals nothing.
	inviteBytes  = 10
	inviteDigits = 16
	inviteDomain = "scorel invite v1\x00"

	inviteIDPrefix   = "inv_"
	inviteIDDigits   = 8
	inviteIDAlphabet = "abcdefghijklmnopqrstuvwxyz234567"

	// MaxInviteUses is how many new parties one invite may admit.
	MaxInviteUses = 100_000
)

// InviteHash is the stored hash of an invite's code.
type InviteHash [sha256.Size]byte

// MarshalText implements encoding.TextMarshaler.
func (h InviteHash) MarshalText() ([]byte, error) {
	return base64.RawURLEncoding.AppendEncode(nil, h[:]), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *InviteHash) UnmarshalText(text []byte) error {
	raw, err := base64.RawURLEncoding.Strict().AppendDecode(nil, text)
	if err != nil || len(raw) != len(h) {
		return fmt.Errorf("the hash of an invite is %d bytes in base64url", len(h))
	}
	*h = InviteHash(raw)
	return nil
}

// Invite admits new parties, each once. The code itself is not stored anywhere.
type Invite struct {
	ID      string // names it in lists and commands; not secret
	Hash    InviteHash
	Uses    int // how many new parties it admits
	Used    int
	Created time.Time // microseconds, UTC
	Expires time.Time // zero means never
	Revoked time.Time // zero while it is valid
}

// Check returns what is wrong with an invite from elsewhere, or nil.
func (i Invite) Check() error {
	digits, named := strings.CutPrefix(i.ID, inviteIDPrefix)
	switch {
	case !named || len(digits) != inviteIDDigits || strings.Trim(digits, inviteIDAlphabet) != "":
		return fmt.Errorf("%q is not an invite id", i.ID)
	case i.Hash == InviteHash{}: // the zero hash stands for no invite
		return fmt.Errorf("invite %s has no hash", i.ID)
	case i.Uses < 1 || i.Uses > MaxInviteUses:
		return fmt.Errorf("invite %s allows %d uses: want 1 to %d", i.ID, i.Uses, MaxInviteUses)
	case i.Used < 0 || i.Used > i.Uses:
		return fmt.Errorf("invite %s was used %d times of %d", i.ID, i.Used, i.Uses)
	}
	return nil
}

// InviteState is the state of an invite.
type InviteState string

const (
	InviteValid   InviteState = "valid"
	InviteUsedUp  InviteState = "used up"
	InviteExpired InviteState = "expired"
	InviteRevoked InviteState = "revoked"
	InviteUnknown InviteState = "unknown"
)

// State returns the state of the invite at a time.
func (i Invite) State(now time.Time) InviteState {
	switch {
	case !i.Revoked.IsZero():
		return InviteRevoked
	case !i.Expires.IsZero() && !now.Before(i.Expires):
		return InviteExpired
	case i.Used >= i.Uses:
		return InviteUsedUp
	}
	return InviteValid
}

// InviteError is returned by Admit for an invite that is not valid.
type InviteError struct{ State InviteState }

func (e *InviteError) Error() string { return "store: the invite is " + string(e.State) }

// Inviter stores invites. Uses are counted in the store, so nodes that share it
// never admit more than an invite allows.
type Inviter interface {
	// AddInvite stores a new invite.
	AddInvite(ctx context.Context, invite Invite) error
	// Invites returns all invites, the newest first.
	Invites(ctx context.Context) ([]Invite, error)
	// RevokeInvite revokes an invite at a time; parties that it admitted stay. Without a
	// valid invite of that id it fails with ErrNotFound.
	RevokeInvite(ctx context.Context, id string, at time.Time) error
}

// NewInvite generates a code and returns it with the invite to store. The caller
// shows the code once; it cannot be read back. A lifetime of 0 means that it never
// expires.
func NewInvite(uses int, lifetime time.Duration, now time.Time) (code string, invite Invite, err error) {
	if uses < 1 || uses > MaxInviteUses {
		return "", Invite{}, fmt.Errorf("an invite can be used 1 to %d times, not %d", MaxInviteUses, uses)
	}
	if lifetime < 0 {
		return "", Invite{}, errors.New("an invite cannot expire before it is created")
	}
	raw := make([]byte, inviteBytes)
	rand.Read(raw)
	digits := base32.NewEncoding(wire.Crockford).EncodeToString(raw)
	hash, err := HashInvite(digits)
	if err != nil {
		return "", Invite{}, err
	}
	invite = Invite{ID: inviteID(), Hash: hash, Uses: uses, Created: now.UTC()}
	if lifetime > 0 {
		invite.Expires = now.Add(lifetime).UTC()
	}
	return strings.Join([]string{digits[:4], digits[4:8], digits[8:12], digits[12:]}, "-"), invite, nil
}

func inviteID() string {
	raw := make([]byte, inviteIDDigits*5/8)
	rand.Read(raw)
	return inviteIDPrefix + base32.NewEncoding(inviteIDAlphabet).EncodeToString(raw)
}

// HashInvite parses a code as people type it, in any case, with or without dashes
// and blanks, O for 0, I and L for 1.
func HashInvite(code string) (InviteHash, error) {
	digits := strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(code))
	if len(digits) != inviteDigits || strings.Trim(digits, wire.Crockford) != "" {
		return InviteHash{}, fmt.Errorf("an invite has %d letters and digits, as in 7K3M-9QXR-2BTD-0V5W", inviteDigits)
	}
	return sha256.Sum256([]byte(inviteDomain + digits)), nil
}
