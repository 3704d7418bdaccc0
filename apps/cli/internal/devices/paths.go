package devices

import (
	"slices"
	"time"

	"github.com/scorel/scorel/packages/client/paths"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// Path is a path to a device, and how it did.
type Path struct {
	Kind        paths.Kind `json:"kind"`
	URL         string     `json:"url"`
	RoundTripMs float64    `json:"roundTripMs,omitempty"` // of the last connection
	UsedAt      int64      `json:"usedAt,omitempty"`      // last connection, Unix milliseconds
}

// Binding is a signature of the device that names this client.
type Binding struct {
	SignedAt  int64  `json:"signedAt"` // Unix milliseconds
	Signature []byte `json:"signature"`
}

func (p Path) path() paths.Path { return paths.Path{Kind: p.Kind, URL: p.URL} }

// Known returns the paths of a device. The relay that it was paired on is one even if the
// device no longer reports it. A listener that only programs of the device's machine reach is
// one once it was reached: this machine may be another.
func (d Device) Known() []paths.Known {
	return slices.DeleteFunc(d.all(), func(k paths.Known) bool { return k.Kind == paths.Machine && !k.Bound })
}

func (d Device) all() []paths.Known {
	var list []paths.Known
	paired := paths.Path{Kind: paths.Relay, URL: d.RelayURL}
	for _, p := range append(slices.Clone(d.Paths), Path{Kind: paths.Relay, URL: d.RelayURL}) {
		if slices.ContainsFunc(list, func(k paths.Known) bool { return k.Key() == p.path().Key() }) {
			continue
		}
		list = append(list, paths.Known{
			Path: p.path(), RoundTrip: time.Duration(p.RoundTripMs * float64(time.Millisecond)),
			Bound: p.UsedAt > 0 || p.path().Key() == paired.Key(),
		})
	}
	return list
}

// MaxPaths limits how many paths of a device are kept.
const MaxPaths = 16

// Learn replaces the paths of a device by those that it reported, keeps what is known about
// them, and returns those that were never used.
func Learn(file string, id ident.ID, reported []paths.Path, binding *Binding) (unused []paths.Path, err error) {
	err = change(file, func(list []Device) []Device {
		return edit(list, id, func(d *Device) {
			known := d.Paths
			d.Paths = nil
			for _, p := range reported {
				i := slices.IndexFunc(known, func(k Path) bool { return k.path().Key() == p.Key() })
				next := Path{Kind: p.Kind, URL: p.URL}
				if i >= 0 {
					next.RoundTripMs, next.UsedAt = known[i].RoundTripMs, known[i].UsedAt
				}
				if len(d.Paths) == MaxPaths || slices.ContainsFunc(d.Paths, func(k Path) bool { return k.path().Key() == p.Key() }) {
					continue
				}
				d.Paths = append(d.Paths, next)
			}
			if binding != nil {
				d.Binding = binding
			}
			for _, k := range d.all() {
				if !k.Bound || k.RoundTrip == 0 {
					unused = append(unused, k.Path)
				}
			}
		})
	})
	return unused, err
}

// usedEvery is how often a connection over the same path is noted.
const usedEvery = time.Minute

// Used notes a connection over a path, at most every minute. A path that was found, and not
// reported, is added.
func Used(file string, id ident.ID, p paths.Path, roundTrip time.Duration, at time.Time) error {
	if list, err := Load(file); err == nil && usedJustNow(list, id, p, at) {
		return nil
	}
	return change(file, func(list []Device) []Device {
		return edit(list, id, func(d *Device) {
			i := slices.IndexFunc(d.Paths, func(k Path) bool { return k.path().Key() == p.Key() })
			if i < 0 && len(d.Paths) == MaxPaths {
				return
			}
			if i < 0 {
				d.Paths, i = append(d.Paths, Path{Kind: p.Kind, URL: p.URL}), len(d.Paths)
			}
			d.Paths[i].RoundTripMs = float64(roundTrip.Round(10*time.Microsecond)) / float64(time.Millisecond)
			d.Paths[i].UsedAt = at.UnixMilli()
		})
	})
}

func usedJustNow(list []Device, id ident.ID, p paths.Path, at time.Time) bool {
	for _, d := range list {
		for _, k := range d.Paths {
			if age := at.Sub(time.UnixMilli(k.UsedAt)); d.ID == id && k.UsedAt > 0 && k.path().Key() == p.Key() && age >= 0 && age < usedEvery {
				return true
			}
		}
	}
	return false
}

// Asked notes that a device is asked for its paths.
func Asked(file string, id ident.ID, at time.Time) error {
	return change(file, func(list []Device) []Device {
		return edit(list, id, func(d *Device) { d.AskedAt = at.UnixMilli() })
	})
}

// edit changes one device, if it is still there.
func edit(list []Device, id ident.ID, change func(*Device)) []Device {
	list = slices.Clone(list)
	for i := range list {
		if list[i].ID == id {
			change(&list[i])
		}
	}
	return list
}
