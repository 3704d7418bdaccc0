// Package nobodytest lets tests that run as root meet permissions, which do not count for root.
package nobodytest
