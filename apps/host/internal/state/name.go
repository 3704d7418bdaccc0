package state

import (
	"cmp"
	"sync"

	"github.com/scorel/scorel/packages/protocol/api"
)

// Name is the name of this machine that others see. One from the command line or config.toml
// comes before the one that a person chose here, and that before the machine's host name.
type Name struct {
	path  string
	fixed string // of the command line or config.toml; "" if not set there
	own   string // host name of the machine

	mu     sync.Mutex
	chosen string
}

type nameFile struct {
	Label string `json:"label"`
}

// LoadName reads the name that was chosen from path.
func LoadName(path, fixed, own string) (*Name, error) {
	var file nameFile
	if err := readJSON(path, &file); err != nil {
		return nil, err
	}
	return &Name{path: path, fixed: fixed, own: own, chosen: file.Label}, nil
}

// Current returns the name.
func (n *Name) Current() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return cmp.Or(n.fixed, n.chosen, n.own)
}

// Chosen reports whether a person has chosen the name.
func (n *Name) Chosen() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.fixed != "" || n.chosen != ""
}

// Choose saves a name, which the caller has checked, and reports whether others now see another one than before.
func (n *Name) Choose(label string) (changed bool, err error) {
	before := n.Current()
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case n.fixed != "" && n.fixed != label:
		return false, api.Errorf(api.KindConflict, "this machine is named by --label or by label in config.toml: change it there and restart the host")
	case n.chosen == label, n.fixed != "":
		return false, nil
	}
	if err := writeJSON(n.path, nameFile{Label: label}); err != nil {
		return false, err
	}
	n.chosen = label
	return label != before, nil
}
