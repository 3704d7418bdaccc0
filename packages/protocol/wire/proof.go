package wire

import (
	"bytes"

	"github.com/scorel/scorel/packages/protocol/ident"
)

const proofDomain = "scorel login v1"

// ProofMessage returns the message that a hello's proof signs: the domain tag, the
// role, the authority that the peer dialed, the relay's nonce and the id, each text
// terminated by NUL. The authority keeps a relay from replaying the login to
// another relay.
func ProofMessage(id ident.ID, authority string, nonce []byte) []byte {
	var b bytes.Buffer
	for _, part := range []string{proofDomain, string(id.Kind()), authority} {
		b.WriteString(part)
		b.WriteByte(0)
	}
	b.Write(nonce)
	b.WriteByte(0)
	b.WriteString(id.String())
	return b.Bytes()
}

// Sign sets the id, keys and proof of the hello.
func (h *Hello) Sign(keys *ident.Private, nonce []byte) {
	h.Version = Version
	h.ID = keys.ID()
	h.Public = keys.Public()
	h.Proof = keys.Sign(ProofMessage(h.ID, h.Authority, nonce))
}

// Verify reports whether the proof was made for this nonce with the keys that the
// id commits to. The caller compares Authority with its own names.
func (h *Hello) Verify(nonce []byte) bool {
	return ident.NewID(h.ID.Kind(), h.Public) == h.ID &&
		h.Public.Sign.Verify(ProofMessage(h.ID, h.Authority, nonce), h.Proof)
}
