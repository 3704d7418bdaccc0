package api

// Requests about shells.
var (
	OpenTerminal   = Define[OpenTerminalRequest, TerminalResponse]("open_terminal", GrantShell, "Starts a shell on the host's machine; the same clientKey yields the same terminal.")
	ListTerminals  = Define[Empty, ListTerminalsResponse]("list_terminals", GrantShell, "Lists the terminals of the asking client.")
	AttachTerminal = Define[AttachTerminalRequest, AttachTerminalResponse]("attach_terminal", GrantShell, "Sends the output of a terminal from an offset to this connection.")
	DetachTerminal = Define[TerminalRequest, Empty]("detach_terminal", GrantShell, "Ends the output to this connection. The shell continues.")
	AckTerminal    = Define[AckTerminalRequest, Empty]("ack_terminal", GrantShell, "Acknowledges output, so that more follows.")
	WriteTerminal  = Define[WriteTerminalRequest, Empty]("write_terminal", GrantShell, "Types into a terminal.")
	ResizeTerminal = Define[ResizeTerminalRequest, TerminalResponse]("resize_terminal", GrantShell, "Sets the size of a terminal.")
	CloseTerminal  = Define[TerminalRequest, Empty]("close_terminal", GrantShell, "Ends the shell with everything in its session, and removes the terminal.")
)

func terminalRequests() []Spec {
	return []Spec{
		OpenTerminal.Spec(),
		ListTerminals.Spec(),
		AttachTerminal.Spec(),
		DetachTerminal.Spec(),
		AckTerminal.Spec(),
		WriteTerminal.Spec(),
		ResizeTerminal.Spec(),
		CloseTerminal.Spec(),
	}
}
