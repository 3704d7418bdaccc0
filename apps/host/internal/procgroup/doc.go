// Package procgroup runs commands so that they can be stopped with all their
// children. Own is called before the command starts; Terminate and Kill after, also
// when it has ended, for what it left running. Seclude keeps what runs for the same
// user out of this process.
//
// A process that is killed stops nothing. A Ledger notes in a folder which commands
// run, so that whoever comes after it ends what they left: on Linux, which tells of
// every process when it was started and to which session it belongs.
package procgroup
