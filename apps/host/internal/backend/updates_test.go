//go:build !race

package backend_test

// manyUpdates is how many updates TestMuch sends at once.
const manyUpdates = 100_000
