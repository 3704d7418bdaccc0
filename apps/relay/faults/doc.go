// Package faults tests what a relay does when something breaks: three nodes as
// processes, a NATS cluster, PostgreSQL, and two hundred hosts that send
// constantly. It also contains the soak test: connections that come and go in every
// way and must leave nothing behind.
package faults
