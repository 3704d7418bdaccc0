// Package cli is the command line of scorel and its composition root: it wires the relay,
// the host and the client together and is the only package that may import all of them.
//
// app is the process: its console, environment and network, and the commands with --device. Only
// the functions that make commands know it. What they run takes a part of it: a writer, the
// console, the environment, or a target, which leads to a host.
//
// There is one cmd_*.go per command. A command reads its flags, calls other packages and
// prints. Anything more complex is in internal: follow runs one prompt across lost
// connections, devices stores the devices that this machine may reach, terminal asks
// questions and draws.
package cli
