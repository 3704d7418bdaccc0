// Package cli is the command line of scorel and its composition root: it wires
// the relay, the host and the client together and is the only room that may
// import all of them.
//
// There is one cmd_*.go per command. A command reads its flags, calls the rooms
// below and prints; what takes more than that lives in internal: follow runs one
// prompt across lost connections, devices keeps the devices that this machine
// may reach, terminal asks and draws.
//
// What people read goes to standard output, what happens on the way to standard
// error. A failure is one sentence on standard error that says what to do, and
// an exit code that scripts can rely on (see the constants Exit*).
package cli
