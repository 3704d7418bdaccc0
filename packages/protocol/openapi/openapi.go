// Package openapi holds the OpenAPI 3.1 document of a host's HTTP adapter.
// cmd/tsgen writes it from api.Table and the Go types; a test of that command fails
// if it is stale.
package openapi

import _ "embed"

//go:embed openapi.json
var document string

// Document returns the document as JSON.
func Document() string { return document }
