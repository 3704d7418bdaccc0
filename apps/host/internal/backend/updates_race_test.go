//go:build race

package backend_test

// manyUpdates is a tenth under the race detector, which makes decoding an update ten times as slow
// and finds nothing in the last ones that it has not found in the first.
const manyUpdates = 10_000
