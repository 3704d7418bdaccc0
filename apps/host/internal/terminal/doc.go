// Package terminal gives clients shells on the host's machine.
//
// A terminal is a login shell of the host's user on a pseudo-terminal. It has all rights of
// that user: no sandbox, no rules and no approvals apply to it, and nothing of it reaches a
// model. Only clients with api.GrantShell have terminals, and only the client that opened
// one can use it. When a client loses the grant, Recheck ends its shells.
//
// The host keeps the latest api.TerminalBytes of output with their offset, so that a client
// whose connection was lost continues where it stopped, or learns how much is missing.
// Output goes to attached connections only. A connection that leaves api.TerminalWindow
// unacknowledged gets no more until it acknowledges some. While every attached connection
// is that far behind, the host stops reading from the shell, which then waits as it does for
// a slow terminal; a connection that acknowledges nothing for Options.Patience no longer
// holds it up.
//
// A terminal ends with its shell: the rest of the shell's session is killed then, including
// programs that ignore a hangup. Programs with a session of their own, such as tmux,
// continue. If the host is killed, the system hangs the terminals up.
package terminal
