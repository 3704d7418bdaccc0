package pathname

import (
	"strings"
	"testing"
)

func TestWithinFold(t *testing.T) {
	for _, c := range []struct {
		folder, path string
		want         bool
	}{
		{"/home/ann/.scorel", "/home/ann/.scorel", true},
		{"/home/ann/.scorel", "/home/Ann/.SCOREL/identity.json", true},
		{"/home/ann/.scorel/", "/home/ann/.scorel/a/b", true},
		{"/home/ann/.scorel", "/home/ann/.scorel2", false},
		{"/home/ann/.scorel", "/home/ann", false},
		{"/", "/etc", true},
		{"", "/etc", false},
	} {
		if got := WithinFold(c.folder, c.path); got != c.want {
			t.Errorf("%q in %q: %v", c.path, c.folder, got)
		}
	}
}

func TestManyChoices(t *testing.T) {
	for pattern, want := range map[string]bool{
		"**/*.go": false, "a,b,c": false, "*.{ts,tsx,js}": false,
		strings.Repeat("{a,b}", 13): false, strings.Repeat("{a,b}", 14): true, strings.Repeat("{a,b,c,d,e,f,g,h,i,j}", 5): true,
	} {
		if got := ManyChoices(pattern); got != want {
			t.Errorf("%q: %v", pattern, got)
		}
	}
}
