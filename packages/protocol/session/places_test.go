package session

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The table of places answers as a map does, while it grows and ids come again.
func TestPlacesAreThoseOfAMap(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, ids := range []int{1, 7, 8, 9, 500, 1 << 30} {
		tree, want := NewTree(nil), map[string]int{}
		for place := range 3000 {
			id := fmt.Sprint(random.IntN(ids))
			tree.Add(Entry{Type: TypeCustom, ID: id, Raw: []byte(`{}`)})
			want[id] = place
			asked := fmt.Sprint(random.IntN(ids))
			got, ok := tree.place(asked)
			if last, known := want[asked]; ok != known || ok && got != last {
				t.Fatalf("%d ids, after %d entries: %s is at %d (%v), want %d (%v)", ids, place+1, asked, got, ok, last, known)
			}
		}
		if tree.byID.count != len(want) {
			t.Errorf("%d ids: %d counted, want %d", ids, tree.byID.count, len(want))
		}
		again := NewTree(tree.Entries())
		for id, last := range want {
			if got, ok := again.place(id); !ok || got != last {
				t.Errorf("%d ids, built at once: %s is at %d (%v), want %d", ids, id, got, ok, last)
			}
		}
	}
}
