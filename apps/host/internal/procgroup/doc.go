// Package procgroup runs commands so that they can be stopped with all their children. Own
// is called before the command starts; Terminate and Kill afterwards, also when the command
// has ended, to stop what it left running. Seclude protects this process from other
// processes of the same user.
//
// A killed process cannot stop its commands. A Ledger therefore records running commands in
// a folder, so that the next process can end what they left running. It works on Linux
// only, where the start time and the session of every process are known.
package procgroup
