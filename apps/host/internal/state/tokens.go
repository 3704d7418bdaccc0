package state

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxTokens bounds the list, and with it the cost of a lookup.
const maxTokens = 100

// Token is what the host stores about a token, which never includes the token itself.
type Token struct {
	api.Token
	Hash string `json:"hash"` // SHA-256 of the token, lower-case hex
}

// Tokens is the list of tokens for programs that use a host on its own machine.
type Tokens struct {
	path string

	mu   sync.Mutex
	list []Token
}

type tokensFile struct {
	Tokens []Token `json:"tokens"`
}

// LoadTokens reads the list from path.
func LoadTokens(path string) (*Tokens, error) {
	var file tokensFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Tokens{path: path, list: file.Tokens}, nil
}

// Add admits the token with that hash until expiresAt (Unix milliseconds; 0 means forever).
// Adding the same hash again changes nothing; changing its grants is a conflict. If the
// list is full, the token that expired first is removed.
func (t *Tokens) Add(hash, label string, grants []api.Grant, expiresAt int64) (api.Token, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, have := range t.list {
		if have.Hash != hash {
			continue
		}
		if have.Label != label || !slices.Equal(have.Grants, grants) || have.ExpiresAt != expiresAt {
			return api.Token{}, api.Errorf(api.KindConflict, "this token already exists with a different label, grants or expiry: revoke %s first, or create a new one", have.ID)
		}
		return have.Token, nil
	}
	list := slices.Clone(t.list)
	if len(list) >= maxTokens {
		i := firstExpired(list)
		if i < 0 {
			return api.Token{}, api.Errorf(api.KindTooLarge, "the limit of %d tokens is reached: revoke one that is no longer used", maxTokens)
		}
		list = slices.Delete(list, i, i+1)
	}
	token := Token{Hash: hash, Token: api.Token{
		ID: "tok_" + hash[:16], Label: label, Grants: grants, CreatedAt: time.Now().UnixMilli(), ExpiresAt: expiresAt,
	}}
	return token.Token, t.saveLocked(append(list, token))
}

// firstExpired returns the index of the token that expired first, or -1.
func firstExpired(list []Token) int {
	first := -1
	for i, token := range list {
		if expired(token.Token) && (first < 0 || token.ExpiresAt < list[first].ExpiresAt) {
			first = i
		}
	}
	return first
}

func expired(token api.Token) bool {
	return token.ExpiresAt != 0 && time.Now().UnixMilli() >= token.ExpiresAt
}

// Remove removes a token; false if there is none with that id.
func (t *Tokens) Remove(id string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(t.list), func(have Token) bool { return have.ID == id })
	if len(list) == len(t.list) {
		return false, nil
	}
	return true, t.saveLocked(list)
}

func (t *Tokens) saveLocked(list []Token) error {
	if err := writeJSON(t.path, tokensFile{list}); err != nil {
		return err
	}
	t.list = list
	return nil
}

// Admission is the result of checking a token.
type Admission int

const (
	TokenUnknown Admission = iota
	TokenExpired
	TokenGood
)

// Check looks up a token by its secret. An expired token is reported as such, so that its
// owner learns why it stopped working.
func (t *Tokens) Check(secret string) (api.Token, Admission) {
	sum := sha256.Sum256([]byte(secret))
	shown := []byte(hex.EncodeToString(sum[:]))
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, have := range t.list {
		if subtle.ConstantTimeCompare(shown, []byte(have.Hash)) == 1 {
			if expired(have.Token) {
				return have.Token, TokenExpired
			}
			return have.Token, TokenGood
		}
	}
	return api.Token{}, TokenUnknown
}

// Find returns the token with that id; false if none is admitted.
func (t *Tokens) Find(id string) (api.Token, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, have := range t.list {
		if have.ID == id {
			return have.Token, true
		}
	}
	return api.Token{}, false
}

// List returns the tokens in the order of their creation.
func (t *Tokens) List() []api.Token {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := make([]api.Token, 0, len(t.list))
	for _, token := range t.list {
		list = append(list, token.Token)
	}
	return list
}
