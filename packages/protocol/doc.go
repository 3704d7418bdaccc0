// Package protocol documents the protocol of scorel's programs. It holds no code;
// its sub-packages are the layers, from the outside in:
//
//	ident      identities: public ids that commit to keys, and the keys
//	wire       everything a relay may see: control frames, data records, limits,
//	           the reasons why a connection or channel ends
//	pair       the ceremony that introduces a device and a client to each other
//	seal       the end-to-end channel: carried by a relay that cannot read it
//	session    the session log, in the same form on disk and on the wire
//	api        the requests and events that travel inside the seal
//	openapi    the OpenAPI document of the same requests over HTTP
//	proof      what the log of a session proves, and signatures of answers
//	visible    text with its invisible characters written out
//	exactjson  the JSON decoder of all layers
//
// Of these packages a relay imports only ident, wire and exactjson, so the build
// guarantees that it cannot read what it routes. Everything here runs in a browser: no package
// imports os, os/exec, net, net/http or syscall.
//
// The normative text is docs/protocol.md. The Go and TypeScript tests both read the
// golden files under testdata/vectors and must agree with every one of them.
//
// Versions:
//
//	1  2026-11-21  first version
package protocol
