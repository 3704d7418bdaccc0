// Package acmetest holds the test of ACME against Pebble, a whole certificate
// authority, in the test's process. It is a package of its own because Pebble leaves
// goroutines behind, which the tests of serve must not.
package acmetest
