package hosttest

import (
	"os"
	"strconv"
	"testing"
)

// Number returns the number in an environment variable, and without where it is not set. It
// fails the test for any other text.
func Number(t testing.TB, name string, without uint64) uint64 {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		return without
	}
	n, err := strconv.ParseUint(value, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
