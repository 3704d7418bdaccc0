// Package acmetest tests ACME against Pebble, a complete certificate authority, in
// the test's process. It is a separate package because Pebble leaves goroutines
// behind, which the tests of serve must not.
package acmetest
