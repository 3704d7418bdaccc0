// Package e2e holds the tests that need relay, host and client together. They run
// in one process over real sockets; the browser's tests are in apps/web/e2e.
package e2e
