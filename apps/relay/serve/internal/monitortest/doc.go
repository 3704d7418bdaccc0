// Package monitortest holds the test that alerts, dashboard and the table of metrics
// in docs/operations.md speak of metrics that a relay shows, and of all of them. It
// is a package of its own so that nothing else depends on what parses them.
package monitortest
