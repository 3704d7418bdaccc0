// Package host is the daemon on the home machine: it owns projects, sessions,
// the agent runtime and the list of entries that may reach it. New wires the
// parts, Run serves until its context ends.
package host
