// Package protocol is the map of what scorel's programs say to each other. It
// holds no code; its sub-packages are the layers, from the outside in:
//
//	ident    who is speaking: public ids that commit to keys, and the keys
//	wire     all that a relay may see: control frames, data records, limits,
//	         the reasons a link or channel ends
//	pair     the ceremony that introduces a device and a client to each other
//	seal     the end-to-end channel: what a relay carries and cannot read
//	session  the session log: one vocabulary for the disk and for the wire
//	api      the requests and events that travel inside the seal
//	openapi  the same for programs that use a host by HTTP, as a document
//
// A relay imports ident and wire and nothing else of this module, so that its
// blindness is a fact of the build. Everything here runs in a browser: no
// package imports os, os/exec, net, net/http or syscall.
//
// The normative text is docs/protocol.md. The golden files under
// testdata/vectors are read by the Go tests and by the TypeScript tests, and
// both must agree with every one of them.
//
// Versions:
//
//	1  2026-11-21  first version
package protocol
