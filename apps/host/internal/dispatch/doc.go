// Package dispatch serves the requests of clients: it holds the table of endpoints,
// the open connections and the grants that each connection has now. It knows neither
// what a request does nor how its bytes arrive. Handlers are functions behind an
// Endpoint; a transport or the HTTP adapter brings the messages.
package dispatch
