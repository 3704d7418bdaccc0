// Package devices stores the devices that this machine may reach as an entry: one file of
// mode 0600 with the pinned keys of each device, the relay that it was paired on, and the
// other paths that it has reported. Channels are sealed to the pinned keys on every path.
package devices

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/scorel/scorel/apps/cli/internal/shortid"
	"github.com/scorel/scorel/packages/atomicfile"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Device is a paired device.
type Device struct {
	ID ident.ID `json:"id"`
	ident.Public
	Label    string `json:"label"`
	RelayURL string `json:"relayUrl"`
	PairedAt int64  `json:"pairedAt"` // Unix milliseconds
	// Paths are those that the device has reported, and those of its own machine or network
	// that were found; empty until the first connection. RelayURL is always a path.
	Paths []Path `json:"paths,omitempty"`
	// Binding is what this client shows to relays that do not know the pairing.
	Binding *Binding `json:"binding,omitempty"`
	AskedAt int64    `json:"askedAt,omitempty"` // when the device was last asked for its paths, Unix milliseconds
}

type file struct {
	Devices []Device `json:"devices"`
}

// Load reads the list at path, in the order of pairing. A missing file is an empty list.
func Load(path string) ([]Device, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the devices: %w", err)
	}
	var f file
	if err := exactjson.Strict(data, &f); err != nil {
		return nil, fmt.Errorf("%s is damaged: repair it, or move it away and pair again (%w)", path, err)
	}
	for _, d := range f.Devices {
		if d.ID.Kind() != ident.KindDevice || ident.NewID(ident.KindDevice, d.Public) != d.ID {
			return nil, fmt.Errorf("%s is damaged: the keys of %q do not match its id; move the file away and pair again", path, d.Label)
		}
	}
	return f.Devices, nil
}

// Add adds a device to the list at path, or replaces it.
func Add(path string, device Device) error {
	return change(path, func(list []Device) []Device {
		return append(without(list, device.ID), device)
	})
}

// Remove removes a device from the list at path; it is not an error if it is missing.
func Remove(path string, id ident.ID) error {
	return change(path, func(list []Device) []Device { return without(list, id) })
}

// change edits the list. Processes that change it at the same time wait for each other.
func change(path string, edit func([]Device) []Device) (err error) {
	unlock, err := atomicfile.Lock(path)
	if err != nil {
		return fmt.Errorf("changing the devices: %w", err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	list, err := Load(path)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(file{edit(list)}, "", "  ")
	if err != nil {
		return fmt.Errorf("encoding the devices: %w", err)
	}
	if err := atomicfile.Write(path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("writing the devices: %w", err)
	}
	return nil
}

func without(list []Device, id ident.ID) []Device {
	return slices.DeleteFunc(slices.Clone(list), func(d Device) bool { return d.ID == id })
}

// Find returns the device with a name: its id, the beginning of its id, or its label. The error
// is one of package shortid.
func Find(list []Device, name string) (Device, error) {
	device, err := shortid.Find(list, "dev_", name, func(d Device) (id, label string) { return d.ID.String(), d.Label })
	if err != nil {
		return device, fmt.Errorf("finding the device %q: %w", name, err)
	}
	return device, nil
}
