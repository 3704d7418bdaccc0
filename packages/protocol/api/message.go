package api

import (
	"encoding/json"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Types of messages from a host.
const (
	TypeResponse = "response"
	TypeError    = "error"
	TypeEvent    = "event"
)

// RequestHead holds the fields that begin every request.
type RequestHead struct {
	Type      string `json:"type"`
	RequestID string `json:"requestId"`
}

// Incoming is any message from a host. Type determines which fields are set.
type Incoming struct {
	Type      string          `json:"type"`
	RequestID string          `json:"requestId,omitempty"`
	Result    json.RawMessage `json:"result,omitempty"`   // response
	Kind      Kind            `json:"kind,omitempty"`     // error
	Message   string          `json:"message,omitempty"`  // error
	DeviceID  string          `json:"deviceId,omitempty"` // error of KindMoved
	MovingTo  string          `json:"movingTo,omitempty"` // error of KindUnavailable
	Event     *EventEnvelope  `json:"event,omitempty"`    // event
}

// EncodeRequest encodes a request.
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

// EncodeResponse encodes the answer to a request.
func EncodeResponse(requestID string, result any) ([]byte, error) {
	return session.Encode(struct {
		Type      string `json:"type"`
		RequestID string `json:"requestId"`
		Result    any    `json:"result"`
	}{TypeResponse, requestID, result})
}

// EncodeError encodes the refusal of a request.
func EncodeError(requestID string, err *Error) ([]byte, error) {
	return session.Encode(Incoming{Type: TypeError, RequestID: requestID, Kind: err.Kind, Message: err.Message, DeviceID: err.DeviceID, MovingTo: err.MovingTo})
}

// The JSON around the event object in an encoded event message.
const eventOpening, eventClosing = `{"type":"event","event":`, `}`

// EncodeEvent encodes an event. The line of an entry is carried as it is, without being
// parsed again.
func EncodeEvent(event EventEnvelope) ([]byte, error) {
	if _, unknown := event.Event.(UnknownEvent); unknown { // its text may have any form
		return session.Encode(Incoming{Type: TypeEvent, Event: &event})
	}
	object, err := event.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("api: encoding an event: %w", err)
	}
	message := make([]byte, 0, len(eventOpening)+len(object)+len(eventClosing))
	return append(append(append(message, eventOpening...), object...), eventClosing...), nil
}

// EventObject returns the event object within the result of EncodeEvent, without
// parsing it.
func EventObject(message []byte) []byte {
	return message[len(eventOpening) : len(message)-len(eventClosing)]
}

// DecodeIncoming decodes any message from a host.
func DecodeIncoming(data []byte) (Incoming, error) {
	var in Incoming
	if err := exactjson.Unmarshal(data, &in); err != nil {
		return Incoming{}, fmt.Errorf("api: reading what the host sent: %w", err)
	}
	return in, nil
}
