// Package wire defines everything that a relay may see: the control frames, the
// data records, their limits, and the reasons why a connection or a channel ends.
//
// A peer opens one WebSocket at /v1/connect with the subprotocol "scorel.v1". Text
// messages are control frames, one JSON object each, distinguished by their "type".
// Binary messages are data: one or more records, each
//
//	channel u32 | length u32 | payload        (big endian, length <= MaxRecordPayload)
//
// The relay speaks first:
//
//	relay -> peer   relay_hello {version, nonce, limits}
//	peer  -> relay  host_hello | entry_hello {version, id, keys, authority, label, proof}
//	relay -> peer   welcome {id, serverTime, peers}
//
// or an error frame and a close. After login, both sides skip frames of unknown
// types, so that a newer peer does not break an older one. An unknown key in a
// known frame is ignored.
package wire

// Version is the protocol version that both hellos carry.
const Version = 1

// Subprotocol is the WebSocket subprotocol that both sides must agree on.
const Subprotocol = "scorel.v1"

// ConnectPath is where a relay serves the WebSocket.
const ConnectPath = "/v1/connect"
