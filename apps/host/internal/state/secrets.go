package state

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/scorel/scorel/packages/keyfile/keystore"
)

// ChannelSecret begins the names of the secrets of chat channels, which are kept beside the keys
// of model providers.
const ChannelSecret = "SCOREL_CHANNEL_"

// Places where secrets are stored.
const (
	InSystem = "system" // the system's key store
	InFile   = "file"   // a file of mode 0600 in the home
)

// secretTimeout bounds how long startup waits for the key store.
const secretTimeout = 5 * time.Second

// SavedKeys are keys of model providers that are not in the environment, by the variables
// that they replace. Values in the system's key store are read on demand.
type SavedKeys struct {
	path  string
	saved map[string]savedKey
}

type savedKey struct {
	Store string `json:"store"`
	Value string `json:"value,omitempty"` // only for InFile
}

type savedKeysFile struct {
	Version int                 `json:"version"`
	Keys    map[string]savedKey `json:"keys"`
}

// LoadSavedKeys reads the list from path.
func LoadSavedKeys(path string) (*SavedKeys, error) {
	var file savedKeysFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	if file.Version > 1 {
		return nil, fmt.Errorf("state: %s was written by a newer version of scorel: use that version", path)
	}
	if file.Keys == nil {
		file.Keys = map[string]savedKey{}
	}
	return &SavedKeys{path: path, saved: file.Keys}, nil
}

// ChangeSavedKeys loads the list from path and runs a change of it. No other process changes the
// list meanwhile: the command line does so beside a running host, and each change writes the whole
// file. It waits for the others until ctx ends.
func ChangeSavedKeys(ctx context.Context, path string, change func(*SavedKeys) error) (err error) {
	lock, err := AcquireBefore(ctx, path+".lock")
	if errors.Is(err, ErrLocked) {
		return fmt.Errorf("another process of scorel is changing the saved keys: wait until it has ended, and try again (%w)", err)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	keys, err := LoadSavedKeys(path)
	if err != nil {
		return err
	}
	return change(keys)
}

// Names lists the variables, sorted.
func (s *SavedKeys) Names() []string { return slices.Sorted(maps.Keys(s.saved)) }

// Store returns where the key of a variable is stored, or "" if there is none.
func (s *SavedKeys) Store(name string) string { return s.saved[name].Store }

// Get returns the key of a variable, or "" if there is none.
func (s *SavedKeys) Get(ctx context.Context, name string) (string, error) {
	key, ok := s.saved[name]
	switch {
	case !ok:
		return "", nil
	case key.Store == InFile:
		return key.Value, nil
	}
	ctx, cancel := context.WithTimeout(ctx, secretTimeout)
	defer cancel()
	value, err := keystore.Get(ctx, s.account(name))
	if err != nil {
		return "", fmt.Errorf("reading the saved key for %s: %w", name, err)
	}
	return value, nil
}

// account returns the name of a key in the key store, which is different for each home.
func (s *SavedKeys) account(name string) string { return name + " of " + s.path }

// Set stores a key, and removes it from its previous place. Call it in ChangeSavedKeys only.
func (s *SavedKeys) Set(ctx context.Context, name, value, store string) error {
	before := s.saved[name].Store
	key := savedKey{Store: store}
	if store == InFile {
		key.Value = value
	} else if err := keystore.Set(ctx, s.account(name), value); err != nil {
		return fmt.Errorf("saving the key for %s: %w", name, err)
	}
	if err := s.write(name, &key); err != nil {
		return err
	}
	if before == InSystem && store != InSystem {
		return keystore.Delete(ctx, s.account(name))
	}
	return nil
}

// Remove removes a key; false if there is none. Call it in ChangeSavedKeys only.
func (s *SavedKeys) Remove(ctx context.Context, name string) (bool, error) {
	key, ok := s.saved[name]
	if !ok {
		return false, nil
	}
	if key.Store == InSystem {
		if err := keystore.Delete(ctx, s.account(name)); err != nil {
			return true, fmt.Errorf("removing the key for %s: %w", name, err)
		}
	}
	return true, s.write(name, nil)
}

func (s *SavedKeys) write(name string, key *savedKey) error {
	saved := maps.Clone(s.saved)
	if key == nil {
		delete(saved, name)
	} else {
		saved[name] = *key
	}
	if err := writeJSON(s.path, savedKeysFile{1, saved}); err != nil {
		return err
	}
	s.saved = saved
	return nil
}
