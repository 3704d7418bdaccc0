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
	// Left means that a relay reported the end of its binding: the entry is removed once no
	// relay holds one.
	Left bool `json:"left,omitempty"`
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
	_, err := c.Admit(Client{ID: id, Public: keys, Label: label, Grants: api.AllGrants()})
	return err
}

// Admit admits an entry now, in place of what it was before. The keys must match the id. undo
// takes that back, unless the entry was removed or admitted again meanwhile.
func (c *Clients) Admit(client Client) (undo func() error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID != client.ID })
	client.PairedAt = time.Now().UnixMilli()
	if len(before) > 0 { // times tell the two apart
		client.PairedAt = max(client.PairedAt, before[0].PairedAt+1)
	}
	if err := c.saveLocked(append(c.othersLocked(client.ID), client)); err != nil {
		return nil, err
	}
	return func() error { return c.restore(client, before) }, nil
}

// AdmitNew admits an entry now, unless it is on the list already. check gets the list, and
// nothing else changes the list meanwhile. It returns the entry as it is on the list.
func (c *Clients) AdmitNew(client Client, check func(list []Client) error) (Client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.list, func(have Client) bool { return have.ID == client.ID }); i >= 0 {
		return c.list[i], nil
	}
	if err := check(c.list); err != nil {
		return Client{}, err
	}
	client.PairedAt = time.Now().UnixMilli()
	return client, c.saveLocked(append(slices.Clone(c.list), client))
}

func (c *Clients) othersLocked(id ident.ID) []Client {
	return slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID == id })
}

// restore puts what an entry was before in place of what it was admitted as.
func (c *Clients) restore(admitted Client, before []Client) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(have Client) bool { return have.ID == admitted.ID && have.PairedAt == admitted.PairedAt })
	if i < 0 {
		return nil
	}
	seen := c.list[i].LastSeen
	list := c.othersLocked(admitted.ID)
	for _, client := range before {
		client.LastSeen = max(client.LastSeen, seen)
		list = append(list, client)
	}
	slices.SortStableFunc(list, func(a, b Client) int { return cmp.Compare(a.PairedAt, b.PairedAt) })
	return c.saveLocked(list)
}

// Rename sets the name of an entry. changed is false if it had that name, found is false if
// the entry is not on the list.
func (c *Clients) Rename(id ident.ID, label string) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) (bool, error) {
		changed := client.Label != label
		client.Label = label
		return changed, nil
	})
}

// seenEvery is how precisely Saw records a time. It bounds how often a client that
// reconnects endlessly makes the list be written.
const seenEvery = time.Minute

// Saw records when an entry had a channel. It does nothing if the entry is not on the list,
// or was seen in the same minute or later.
func (c *Clients) Saw(id ident.ID, at time.Time) error {
	seen := at.Truncate(seenEvery).UnixMilli()
	_, _, _, err := c.change(id, func(client *Client) (bool, error) {
		later := seen > client.LastSeen
		client.LastSeen = max(seen, client.LastSeen)
		return later, nil
	})
	return err
}

// MarkLeft records that a relay reported the end of its binding of an entry. It does nothing
// if the entry is not on the list.
func (c *Clients) MarkLeft(id ident.ID) error {
	_, _, _, err := c.change(id, func(client *Client) (bool, error) {
		changed := !client.Left
		client.Left = true
		return changed, nil
	})
	return err
}

// Remove revokes an entry; false if it was not on the list.
func (c *Clients) Remove(id ident.ID) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.othersLocked(id)
	if len(list) == len(c.list) {
		return false, nil
	}
	return true, c.saveLocked(list)
}

// SetGrant adds or removes a grant of an entry, if check allows it for the entry as it is;
// nothing else changes the list meanwhile. changed is false if that had no effect, found is
// false if the entry is not on the list.
func (c *Clients) SetGrant(id ident.ID, grant api.Grant, given bool, check func(Client) error) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) (bool, error) {
		if err := check(*client); err != nil || slices.Contains(client.Grants, grant) == given {
			return false, err
		}
		grants := slices.DeleteFunc(slices.Clone(client.Grants), func(have api.Grant) bool { return have == grant })
		if given {
			grants = append(grants, grant)
		}
		client.Grants = grants
		return true, nil
	})
}

// SetLimits replaces the limits of an entry by those that choose returns for the entry as it
// is; nothing else changes the list meanwhile. changed is false if it had them, found is false
// if the entry is not on the list.
func (c *Clients) SetLimits(id ident.ID, choose func(Client) (api.ClientLimits, error)) (client Client, found, changed bool, err error) {
	return c.change(id, func(client *Client) (bool, error) {
		limits, err := choose(*client)
		if err != nil || client.ExpiresAt == limits.ExpiresAt && slices.Equal(client.Projects, limits.Projects) {
			return false, err
		}
		client.ClientLimits = limits
		return true, nil
	})
}

// change saves an entry if edit, which gets a copy of it, reports a change. edit must not use
// the list.
func (c *Clients) change(id ident.ID, edit func(*Client) (bool, error)) (client Client, found, changed bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.list, func(have Client) bool { return have.ID == id })
	if i < 0 {
		return Client{}, false, false, nil
	}
	client = c.list[i]
	if changed, err := edit(&client); err != nil || !changed {
		return client, true, false, err
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
