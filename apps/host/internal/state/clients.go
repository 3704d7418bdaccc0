package state

import (
	"slices"
	"sync"
	"time"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Client is an entry that the host admits, with its pinned keys.
type Client struct {
	ID ident.ID `json:"id"`
	ident.Public
	Label    string      `json:"label"`
	Grants   []api.Grant `json:"grants"`
	PairedAt int64       `json:"pairedAt"` // Unix milliseconds
}

// Clients is the list of entries that may reach this host. It is the last word:
// what a relay says of bindings only decides whom it connects.
type Clients struct {
	path string

	mu   sync.Mutex
	list []Client
}

type clientsFile struct {
	Clients []Client `json:"clients"`
}

// LoadClients reads the list.
func LoadClients(path string) (*Clients, error) {
	var file clientsFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Clients{path: path, list: file.Clients}, nil
}

// Add admits an entry with all grants, or renews it. Its keys must be those that
// its id commits to.
func (c *Clients) Add(id ident.ID, keys ident.Public, label string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	client := Client{ID: id, Public: keys, Label: label, Grants: api.AllGrants(), PairedAt: time.Now().UnixMilli()}
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID == id })
	return c.saveLocked(append(list, client))
}

// Remove shuts an entry out; false when it was not on the list.
func (c *Clients) Remove(id ident.ID) (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(c.list), func(have Client) bool { return have.ID == id })
	if len(list) == len(c.list) {
		return false, nil
	}
	return true, c.saveLocked(list)
}

func (c *Clients) saveLocked(list []Client) error {
	if err := writeJSON(c.path, clientsFile{list}); err != nil {
		return err
	}
	c.list = list
	return nil
}

// Get finds an admitted entry.
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
