package state

import (
	"fmt"
	"slices"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// maxSignIns bounds the sign-ins of a home.
const maxSignIns = 256

// SignInKey is the server that a sign-in belongs to: its name, its address, and the folder of
// the project whose .mcp.json configures it, or "". A server that is changed to another address
// has no sign-in.
type SignInKey struct {
	Project string `json:"project,omitempty"`
	Server  string `json:"server"`
	URL     string `json:"url"`
}

// SignIn is what an authorization server issued for a server, and what is needed to refresh and
// revoke it. It is sent to nothing but the server of its key and these endpoints.
type SignIn struct {
	SignInKey
	Resource           string   `json:"resource"`
	Issuer             string   `json:"issuer"`
	TokenEndpoint      string   `json:"tokenEndpoint"`
	RevocationEndpoint string   `json:"revocationEndpoint,omitempty"`
	ClientID           string   `json:"clientId"`
	ClientSecret       string   `json:"clientSecret,omitempty"`
	InHeader           bool     `json:"inHeader,omitempty"` // the client authenticates in a header
	AccessToken        string   `json:"accessToken"`
	RefreshToken       string   `json:"refreshToken,omitempty"`
	ExpiresAt          int64    `json:"expiresAt,omitempty"` // Unix milliseconds; 0 is unknown
	Scopes             []string `json:"scopes,omitempty"`
	SignedInAt         int64    `json:"signedInAt"` // Unix milliseconds
	SignedInBy         string   `json:"signedInBy"` // client id
}

// SignIns are the sign-ins of a home, in a file of mode 0600.
type SignIns struct {
	path string

	mu   sync.Mutex
	list []SignIn // replaced as a whole
}

type signInsFile struct {
	Version int      `json:"version"`
	SignIns []SignIn `json:"signIns"`
}

// LoadSignIns reads the sign-ins from path.
func LoadSignIns(path string) (*SignIns, error) {
	var file signInsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	if file.Version > 1 {
		return nil, fmt.Errorf("state: %s was written by a newer version of scorel: use that version", path)
	}
	return &SignIns{path: path, list: file.SignIns}, nil
}

// Find returns the sign-in of a server.
func (s *SignIns) Find(key SignInKey) (SignIn, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.list, func(have SignIn) bool { return have.SignInKey == key })
	if i < 0 {
		return SignIn{}, false
	}
	return s.list[i], true
}

// Of returns the sign-ins of the servers of a project with a name, whatever their addresses.
func (s *SignIns) Of(project, server string) (list []SignIn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, have := range s.list {
		if have.Project == project && have.Server == server {
			list = append(list, have)
		}
	}
	return list
}

// Put stores a sign-in, replacing those of the same project and name. It is on disk when Put
// returns.
func (s *SignIns) Put(signIn SignIn) error {
	return s.change(func(list []SignIn) ([]SignIn, error) {
		list = slices.DeleteFunc(list, func(have SignIn) bool {
			return have.Project == signIn.Project && have.Server == signIn.Server
		})
		if len(list) >= maxSignIns {
			return nil, api.Errorf(api.KindConflict, "there are %d sign-ins of MCP servers, which is the limit: sign out of one first", maxSignIns)
		}
		return append(list, signIn), nil
	})
}

// Refresh replaces the tokens of a sign-in, unless it was removed or replaced in the meantime.
func (s *SignIns) Refresh(before, after SignIn) error {
	return s.change(func(list []SignIn) ([]SignIn, error) {
		for i, have := range list {
			if have.SignInKey == before.SignInKey && have.AccessToken == before.AccessToken {
				list[i] = after
			}
		}
		return list, nil
	})
}

// Remove removes the sign-in of a server.
func (s *SignIns) Remove(key SignInKey) error {
	return s.change(func(list []SignIn) ([]SignIn, error) {
		return slices.DeleteFunc(list, func(have SignIn) bool { return have.SignInKey == key }), nil
	})
}

func (s *SignIns) change(do func([]SignIn) ([]SignIn, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	list, err := do(slices.Clone(s.list))
	if err != nil {
		return err
	}
	if err := writeJSON(s.path, signInsFile{1, list}); err != nil {
		return err
	}
	s.list = list
	return nil
}
