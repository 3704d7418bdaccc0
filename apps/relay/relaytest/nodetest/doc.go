// Package nodetest runs relay nodes as separate processes, so that a test can kill
// or freeze one, or measure what it alone uses. The process is the test's own
// program, which Main turns into a node, so it is built like the test, including
// the race detector.
//
// A node ends with the test process, however that ends.
package nodetest
