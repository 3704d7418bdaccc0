package shortid

import (
	"errors"
	"testing"
)

type thing struct{ id, name string }

func TestFind(t *testing.T) {
	list := []thing{
		{"dev_aaaa1111", "desk"}, {"dev_aaaa2222", "laptop"}, {"dev_bbbb1111", "laptop"},
		{"dev_bbbb1111", "laptop"}, // twice in the list
		{"dev_c", ""}, {"dev_cccc1111", "dev_bbbb"},
	}
	for given, want := range map[string]struct {
		id  string
		err error
	}{
		"dev_aaaa1111": {"dev_aaaa1111", nil},
		"dev_aaaa1":    {"dev_aaaa1111", nil},
		"dev_aaaa":     {"", ErrAmbiguous},
		"desk":         {"dev_aaaa1111", nil},
		"laptop":       {"", ErrAmbiguous},
		"dev_bbbb1":    {"dev_bbbb1111", nil},
		"dev_bbbb":     {"", ErrAmbiguous}, // the name of another one
		"dev_bbb":      {"", ErrShort},
		"dev_c":        {"dev_c", nil},
		"d":            {"", ErrShort},
		"desktop":      {"", ErrUnknown},
		"":             {"", ErrUnknown}, // not the one without a name
	} {
		found, err := Find(list, "dev_", given, func(t thing) (string, string) { return t.id, t.name })
		if found.id != want.id || !errors.Is(err, want.err) {
			t.Errorf("%q: %q, %v", given, found.id, err)
		}
	}
	if !errors.Is(ErrShort, ErrUnknown) {
		t.Error("whatever is too short is not unknown")
	}
	if found, err := Find(list[:1], "", "dev_", func(t thing) (string, string) { return t.id, t.name }); err != nil || found.id != "dev_aaaa1111" {
		t.Errorf("ids without a kind: %q, %v", found.id, err)
	}
}
