package dispatch

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// Endpoint is a request that the host serves. Serve and ServeLater make one.
type Endpoint struct {
	api.Spec
	schema *api.Schema
	// serve decodes the body and answers it. Unless it fails, it calls reply once.
	serve func(ctx context.Context, c *Conn, body []byte, reply func(any)) error
}

// Serve makes the endpoint of a definition from the function that answers it.
func Serve[Request, Response any](d api.Definition[Request, Response], answer func(context.Context, *Conn, Request) (Response, error)) Endpoint {
	return ServeLater(d, func(ctx context.Context, c *Conn, request Request, reply func(Response)) error {
		response, err := answer(ctx, c, request)
		if err == nil {
			reply(response)
		}
		return err
	})
}

// ServeLater is Serve for a function that calls reply itself, possibly from another
// goroutine and after it returned.
func ServeLater[Request, Response any](d api.Definition[Request, Response], answer func(context.Context, *Conn, Request, func(Response)) error) Endpoint {
	return Endpoint{Spec: d.Spec(), schema: api.SchemaOf(d), serve: func(ctx context.Context, c *Conn, body []byte, reply func(any)) error {
		var request Request
		if err := exactjson.Unmarshal(body, &request); err != nil {
			return badField(err)
		}
		return answer(ctx, c, request, func(response Response) { reply(response) })
	}}
}

func badField(err error) *api.Error {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return api.Errorf(api.KindBadRequest, "the field %s has the wrong type", typeErr.Field)
	}
	return api.Errorf(api.KindBadRequest, "a field is invalid: %s", strings.TrimPrefix(err.Error(), "json: "))
}

// Request is a request that its connection may make.
type Request struct {
	Endpoint
	Body   []byte
	Strict bool // fields that the request does not have are refused

	id string
}

// MaxBytes is the longest body that the request can have.
func (r Request) MaxBytes() int { return r.schema.MaxBytes() }

// Decode checks the fields of a request and reads them. Fields must be the request type
// of the definition.
func Decode[Fields any](r Request) (fields Fields, _ *api.Error) {
	if err := r.schema.Check(r.Body, r.Strict); err != nil {
		return fields, err
	}
	if err := exactjson.Unmarshal(r.Body, &fields); err != nil {
		return fields, badField(err)
	}
	return fields, nil
}

// Call serves a request about a session that the host makes on behalf of a connection. The
// connection needs the grant of the definition, and must see the session.
func Call[Request, Response any](ctx context.Context, c *Conn, d api.Definition[Request, Response], sessionID string, answer func(context.Context, *Conn, Request) (Response, error), request Request) (Response, error) {
	var none Response
	admitted, refused := c.Admit(d.Name())
	if refused == nil {
		refused = c.CheckSession(admitted, sessionID)
	}
	if refused != nil {
		return none, refused
	}
	response, err := answer(ctx, c, request)
	if err != nil {
		return none, c.Explain(d.Name(), err)
	}
	return response, nil
}
