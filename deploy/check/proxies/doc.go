// Package proxies tests the configurations in deploy/proxies: each is read by its own program, at
// its own ports, in front of a relay, and peers connect through it from several addresses. The
// tests run in a network namespace of their own, which needs Linux, and need the programs of
// Debian's packages; .ci/deploy installs them.
//
// A configuration is used as it is but for its certificate and its timeouts: see setups.
package proxies
