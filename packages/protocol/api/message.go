package api

import (
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/session"
)

// Types of what a host sends.
const (
	TypeResponse = "response"
	TypeError    = "error"
	TypeEvent    = "event"
)

// RequestHead is what every request starts with.
type RequestHead struct {
	Type      string `json:"type"`
	RequestID string `json:"requestId"`
}

// Incoming is anything that a host sends. Type says which fields are set.
type Incoming struct {
	Type      string          `json:"type"`
	RequestID string          `json:"requestId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`  // response
	Kind      Kind            `json:"kind,omitempty"`    // error
	Message   string          `json:"message,omitempty"` // error
	Event     *EventEnvelope  `json:"event,omitempty"`   // event
}

// EncodeRequest writes a request.
func EncodeRequest(name, requestID string, request any) ([]byte, error) {
	head, err := session.Encode(RequestHead{name, requestID})
	if err != nil {
		return nil, fmt.Errorf("api: encoding %s: %w", name, err)
	}
	body, err := session.Encode(request)
	if err != nil {
		return nil, fmt.Errorf("api: encoding %s: %w", name, err)
	}
	return joinObjects(head, body), nil
}

// EncodeResponse writes the answer to a request.
func EncodeResponse(requestID string, result any) ([]byte, error) {
	return session.Encode(struct {
		Type      string `json:"type"`
		RequestID string `json:"requestId"`
		Result    any    `json:"result"`
	}{TypeResponse, requestID, result})
}

// EncodeError writes the refusal of a request.
func EncodeError(requestID string, err *Error) ([]byte, error) {
	return session.Encode(Incoming{Type: TypeError, RequestID: requestID, Kind: err.Kind, Message: err.Message})
}

// EncodeEvent writes an event.
func EncodeEvent(event EventEnvelope) ([]byte, error) {
	return session.Encode(Incoming{Type: TypeEvent, Event: &event})
}

// DecodeIncoming reads anything that a host sends.
func DecodeIncoming(data []byte) (Incoming, error) {
	var in Incoming
	if err := json.Unmarshal(data, &in); err != nil {
		return Incoming{}, fmt.Errorf("api: reading what the host sent: %w", err)
	}
	return in, nil
}
