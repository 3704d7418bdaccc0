// Package listener accepts the direct connections of this machine. It listens on loopback
// addresses only and bounds the number of connections: of all, of one token, and of those
// that have not shown a token yet.
package listener
