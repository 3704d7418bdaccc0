package store

import (
	"encoding/json"
	"testing"
)

// TestPartsAreComparedWithAFile: Equal is Bytes without the copy.
func TestPartsAreComparedWithAFile(t *testing.T) {
	p := Parts{First: []byte(`{"a":1}`), Lines: []json.RawMessage{json.RawMessage(`{"b":2}`), json.RawMessage(`{}`)}}
	whole := string(p.Bytes())
	for _, data := range []string{whole, "", whole + "\n", whole + "{}\n", whole[:len(whole)-1], whole[:8], "x" + whole, whole[:7] + whole[8:]} {
		if got, want := p.Equal([]byte(data)), data == whole; got != want {
			t.Errorf("%q: %t", data, got)
		}
	}
}
