// Package nodetest runs relay nodes as processes of their own, so that a test can
// kill one, freeze it, or look at what it alone uses. The process is the test's
// own program, which Main turns into a node: it is built with what the test is
// built with, the race detector included.
//
// A node ends with the test process, however that ends.
package nodetest
