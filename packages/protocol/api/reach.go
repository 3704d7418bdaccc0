package api

// Reach is how far a request goes. It decides what becomes of it on a connection that is
// limited to some projects.
type Reach uint8

const (
	// ReachHost is the whole host: the request is refused. It applies to each request
	// that is defined without a reach.
	ReachHost Reach = iota
	// ReachNamed is the session or the project that the request names. It must name one,
	// and one that the connection does not see is unknown.
	ReachNamed
	// ReachShown is what the connection sees: what the request names is checked as for
	// ReachNamed, and the handler leaves out the rest.
	ReachShown
)
