package state

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Client is an admitted entry, with its pinned keys.
type Client struct {
	ID ident.ID `json:"id"`
	ident.Public
	Label    string      `json:"label"`
	Grants   []api.Grant `json:"grants"`
	PairedAt int64       `json:"pairedAt"` // Unix milliseconds
	api.ClientLimits
	// LastSeen is when it last had a channel, in Unix milliseconds, cut to the minute; 0 if
	// that is unknown.
	LastSeen int64 `json:"lastSeen,omitempty"`
	// SessionID is the only session that a guest link sees; "" for everyone else.
	SessionID string `json:"sessionId,omitempty"`
}

// Limited reports whether the client's grants apply to a part of the host or for a time.
func (c Client) Limited() bool {
	return c.SessionID != "" || len(c.Projects) > 0 || c.ExpiresAt != 0
}

// Expired reports whether the client's access has ended by a time.
func (c Client) Expired(now time.Time) bool {
	return c.ExpiresAt != 0 && now.UnixMilli() >= c.ExpiresAt
}

// Clients is the list of entries that may reach this host. It is authoritative: a relay's
// bindings only decide whom the relay connects.
type Clients struct {
	path string

	mu   sync.Mutex
	list []Client
}

// withFiles is the first version of the list that has the grant "files".
const withFiles = 1

// clientsFile keeps limited clients apart: an older host, which knows no limits, does not
// read them, and refuses these clients.
type clientsFile struct {
	Version int      `json:"version,omitempty"`
	Clients []Client `json:"clients"`
	Limited []Client `json:"limited,omitempty"`
}

// LoadClients reads the list from path. Clients that were paired before the grant "files"
// existed get it if they may send prompts: an agent reads any file for them.
func LoadClients(path string) (*Clients, error) {
	var file clientsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	for i, client := range file.Clients {
		if file.Version < withFiles && slices.Contains(client.Grants, api.GrantPrompt) && !slices.Contains(client.Grants, api.GrantFiles) {
			file.Clients[i].Grants = append(slices.Clone(client.Grants), api.GrantFiles)
		}
	}
	list := append(file.Clients, file.Limited...)
	slices.SortStableFunc(list, func(a, b Client) int { return cmp.Compare(a.PairedAt, b.PairedAt) })
	return &Clients{path: path, list: list}, nil
}

// Add admits an entry with the grants of pairing and no limits.
func (c *Clients) Add(id ident.ID, keys ident.Public, label string) error {
	return c.Admit(Client{ID: id, Public: keys, Label: label, Grants: api.AllGrants()})
}

// Admit admits an entry now, in place of what it was before. The keys must match the id.
func (c *Clients) Admit(client Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	client.PairedAt = time.Now().UnixMilli()
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID == client.ID })
	return c.saveLocked(append(list, client))
}

// Rename sets the name of an entry. changed is false if it had that name, found is false if
// the entry is not on the list.
func (c *Clients) Rename(id ident.ID, label string) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) bool {
		changed := client.Label != label
		client.Label = label
		return changed
	})
}

// seenEvery is how precisely Saw records a time. It bounds how often a client that
// reconnects endlessly makes the list be written.
const seenEvery = time.Minute

// Saw records when an entry had a channel. It does nothing if the entry is not on the list,
// or was seen in the same minute or later.
func (c *Clients) Saw(id ident.ID, at time.Time) error {
	seen := at.Truncate(seenEvery).UnixMilli()
	_, _, _, err := c.change(id, func(client *Client) bool {
		later := seen > client.LastSeen
		client.LastSeen = max(seen, client.LastSeen)
		return later
	})
	return err
}

// Remove revokes an entry; false if it was not on the list.
func (c *Clients) Remove(id ident.ID) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID == id })
	if len(list) == len(c.list) {
		return false, nil
	}
	return true, c.saveLocked(list)
}

// SetGrant adds or removes a grant of an entry. changed is false if that had no effect,
// found is false if the entry is not on the list.
func (c *Clients) SetGrant(id ident.ID, grant api.Grant, given bool) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) bool {
		if slices.Contains(client.Grants, grant) == given {
			return false
		}
		grants := slices.DeleteFunc(slices.Clone(client.Grants), func(have api.Grant) bool { return have == grant })
		if given {
			grants = append(grants, grant)
		}
		client.Grants = grants
		return true
	})
}

// SetLimits replaces the limits of an entry. changed is false if it had them, found is false
// if the entry is not on the list.
func (c *Clients) SetLimits(id ident.ID, limits api.ClientLimits) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) bool {
		if client.ExpiresAt == limits.ExpiresAt && slices.Equal(client.Projects, limits.Projects) {
			return false
		}
		client.ClientLimits = limits
		return true
	})
}

// change saves an entry if edit, which gets a copy of it, reports a change.
func (c *Clients) change(id ident.ID, edit func(*Client) bool) (client Client, found, changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(have Client) bool { return have.ID == id })
	if i < 0 {
		return Client{}, false, false, nil
	}
	client = c.list[i]
	if !edit(&client) {
		return client, true, false, nil
	}
	list := slices.Clone(c.list)
	list[i] = client
	return client, true, true, c.saveLocked(list)
}

func (c *Clients) saveLocked(list []Client) error {
	file := clientsFile{Version: withFiles, Clients: []Client{}}
	for _, client := range list {
		if client.Limited() {
			file.Limited = append(file.Limited, client)
		} else {
			file.Clients = append(file.Clients, client)
		}
	}
	if err := writeJSON(c.path, file); err != nil {
		return err
	}
	c.list = list
	return nil
}

// Get returns an admitted entry.
func (c *Clients) Get(id ident.ID) (Client, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(have Client) bool { return have.ID == id })
	if i < 0 {
		return Client{}, false
	}
	return c.list[i], true
}

// List returns the entries in the order in which they were paired.
func (c *Clients) List() []Client {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.list)
}
