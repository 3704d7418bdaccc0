// Package procgroup runs commands so that they can be stopped with all their
// children. Own is called before the command starts; Terminate and Kill after, also
// when it has ended, for what it left running. Seclude keeps what runs for the same
// user out of this process.
package procgroup
