// Package uplink keeps the host connected to its relay: it answers the channels that
// clients open through the relay, and runs the pairings of new clients. The host's list of
// clients decides about admission, not the relay.
package uplink
