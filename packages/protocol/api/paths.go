package api

// Path is one way to reach a device. None is trusted: on all of them clients check the keys
// that were pinned when they paired.
type Path struct {
	// Kind is "relay", "network" for a listener of the device in its local network, or
	// "machine" for one that only programs of the same machine reach.
	Kind PathKind `json:"kind"`
	URL  string   `json:"url"` // as people configured it, or of the listener; "https://" or "http://"
	// State is "connected", "connecting" or "off".
	State string `json:"state"`
}

// PathKind is the kind of a Path.
type PathKind string

const (
	PathRelay   PathKind = "relay"
	PathNetwork PathKind = "network"
	PathMachine PathKind = "machine"
)

// States of a Path, and of the relay in HostInfo.
const (
	PathConnected  = "connected"
	PathConnecting = "connecting"
	PathOff        = "off"
)

// BindingProof is what a client shows to a relay in claim_binding: the device has signed
// that this client may reach it.
type BindingProof struct {
	SignedAt  int64  `json:"signedAt"`  // Unix milliseconds, by the device's clock
	Signature []byte `json:"signature"` // "proof" of claim_binding, base64
}

type (
	ListPathsResponse struct {
		Paths []Path `json:"paths"`
		// Proof is for the client that asks; absent on a connection that is not one of a
		// paired client.
		Proof *BindingProof `json:"proof,omitempty"`
	}
	// PathsChanged reports that a path was added or removed, or that the state of one
	// changed; list_paths lists them.
	PathsChanged struct{}
)

func (PathsChanged) EventType() string { return "paths_changed" }
