// Package faults holds the tests of what a relay does when something breaks: three
// nodes as processes, a NATS cluster, PostgreSQL, and two hundred hosts that talk
// all the time. It also holds the soak: connections that come and go in every
// manner, and nothing that may be left of them.
package faults
