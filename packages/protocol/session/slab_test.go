package session

import (
	"fmt"
	"strings"
	"testing"
)

// Strings of a slab stay what they are while others follow them into it.
func TestSlabStringsStay(t *testing.T) {
	var slab textSlab
	texts := []string{"", "a", `with \"escapes\" \u00e9`, strings.Repeat("x", slabText), strings.Repeat("y", slabText+1), strings.Repeat("z", slabPiece+1)}
	for i := range 5000 {
		texts = append(texts, fmt.Sprintf("%08x", i))
	}
	got := make([]string, len(texts))
	for i, text := range texts {
		got[i] = slab.unquote([]byte(`"` + text + `"`))
	}
	for i, text := range texts {
		if want := unquote([]byte(`"` + text + `"`)); got[i] != want {
			t.Fatalf("string %d is %q, want %q", i, got[i], want)
		}
	}
	var none *textSlab
	if text := none.unquote([]byte(`"b"`)); text != "b" {
		t.Fatalf("without a slab: %q", text)
	}
}
