// Package monitortest tests that the alerts, the dashboard and the table of metrics
// in docs/operations.md use metrics that a relay exposes, and cover all of them. It
// is a separate package so that nothing else depends on the parsers it needs.
package monitortest
