package updater

import (
	"net/http"
	"testing"
)

// CheckRedirect reports what a source at the first address says to a redirect to the second.
func CheckRedirect(t *testing.T, from, to string) error {
	t.Helper()
	source, err := NewSource(from, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, err := http.NewRequest(http.MethodGet, from, nil)
	if err != nil {
		t.Fatal(err)
	}
	next, err := http.NewRequest(http.MethodGet, to, nil)
	if err != nil {
		t.Fatal(err)
	}
	return source.http.CheckRedirect(next, []*http.Request{first})
}
