package api

import "slices"

// Spec describes a request without its Go types.
type Spec struct {
	Name     string
	Grant    Grant
	Request  any // zero value of the request type
	Response any // zero value of the response type
	Doc      string
	// Concurrent is true for requests that wait for a person, a network or a
	// database. They do not block the requests after them.
	Concurrent bool
	// Reach says how far the request goes, for connections that see only a part of the
	// host.
	Reach Reach
	// Guests is true for requests that a guest link can make about its session.
	Guests bool
}

// Definition defines one request: its name on the wire, its request and response
// types, and the grant that it needs. The host, the clients, the schemas, the
// TypeScript types and the documents are derived from it.
type Definition[Request, Response any] struct{ spec Spec }

// Define defines a request. A name is never reused for another request. Without Named or Shown, the
// request goes to the whole host, and connections that are limited to projects are refused.
func Define[Request, Response any](name string, grant Grant, doc string, options ...Option) Definition[Request, Response] {
	var (
		request  Request
		response Response
	)
	spec := Spec{Name: name, Grant: grant, Request: request, Response: response, Doc: doc}
	for _, apply := range options {
		apply(&spec)
	}
	return Definition[Request, Response]{spec}
}

// Spec returns the definition without its types.
func (d Definition[Request, Response]) Spec() Spec { return d.spec }

// Name returns the name of the request on the wire.
func (d Definition[Request, Response]) Name() string { return d.spec.Name }

// Option modifies a definition.
type Option func(*Spec)

// Concurrently marks a request that does not block the requests after it.
func Concurrently(s *Spec) { s.Concurrent = true }

// Named marks a request about the session or project that it names.
func Named(s *Spec) { s.Reach = ReachNamed }

// Shown marks a request that is answered with what the connection sees.
func Shown(s *Spec) { s.Reach = ReachShown }

// Guests marks a request that a guest link can make about its session.
func Guests(s *Spec) { s.Guests = true }

// Table lists every request. A test compares it with the definitions.
func Table() []Spec {
	return slices.Concat(
		hostRequests(), sessionRequests(), settingRequests(), budgetRequests(), scheduleRequests(),
		fileRequests(), clientRequests(), modelRequests(), pushRequests(), terminalRequests(), ownRequests(),
	)
}

// Lookup returns the request with the given name.
func Lookup(name string) (Spec, bool) {
	for _, spec := range Table() {
		if spec.Name == name {
			return spec, true
		}
	}
	return Spec{}, false
}
