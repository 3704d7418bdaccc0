package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// The codes of errors.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeUnknownMethod  = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeCancelled      = -32800
	CodeAuthRequired   = -32000
	CodeNotFound       = -32002
)

// Error is an error that the other side is sent, or has sent.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (e *Error) Error() string {
	if detail := e.detail(); detail != "" {
		return e.Message + ": " + detail
	}
	return e.Message
}

// detail returns what Data says, if that is text, which is where adapters put the cause.
func (e *Error) detail() string {
	var text string
	if json.Unmarshal(e.Data, &text) == nil {
		return text
	}
	var object struct {
		Details string `json:"details"`
		Message string `json:"message"`
	}
	if exactjson.Unmarshal(e.Data, &object) != nil {
		return ""
	}
	return cmp.Or(object.Details, object.Message)
}

// Errorf returns an Error.
func Errorf(code int, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// HasCode reports whether err is an *Error with that code.
func HasCode(err error, code int) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}

// errorOf returns err as the other side is sent it.
func errorOf(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.Canceled):
		return Errorf(CodeCancelled, "the request was cancelled")
	}
	return Errorf(CodeInternal, "%v", err)
}

// message is one line: a request (Method and ID), a notification (Method) or a response.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

var null = json.RawMessage("null")

// parse returns the message of a line. The message shares no memory with it.
func parse(line []byte) (message, error) {
	var m message
	if err := exactjson.Unmarshal(line, &m); err != nil {
		return m, fmt.Errorf("acp: a line is no message: %w", err)
	}
	if m.Method == "" && m.ID == nil {
		return m, errors.New("acp: a line is no message: it has neither method nor id")
	}
	return m, nil
}

// encode returns the line of a message, with its break.
func (m message) encode() ([]byte, error) {
	m.JSONRPC = "2.0"
	line, err := marshal(m)
	if err != nil {
		return nil, fmt.Errorf("acp: encoding a message: %w", err)
	}
	if len(line) > MaxLine {
		return nil, ErrLineTooLong
	}
	return line, nil
}

// marshal is json.Marshal without the escapes of HTML, and with a line break.
func marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// raw encodes a value that goes into a message; nil is null.
func raw(v any) (json.RawMessage, error) {
	encoded, err := marshal(v)
	return bytes.TrimSuffix(encoded, []byte("\n")), err
}

// ownID returns the number of one of this side's requests.
func ownID(id json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(id), 10, 64)
	return n, err == nil
}

// idKey returns the id of a request of the other side as the key of a map. Strings are compared
// by their value: the notification that cancels a request may escape it in another way.
func idKey(id json.RawMessage) (string, error) {
	if len(id) > MaxID {
		return "", fmt.Errorf("acp: the id of a request has %d bytes, the limit is %d", len(id), MaxID)
	}
	var v any
	decoder := json.NewDecoder(bytes.NewReader(id))
	decoder.UseNumber()
	if err := decoder.Decode(&v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case string:
		return "s" + v, nil
	case json.Number:
		return "n" + v.String(), nil
	}
	return "", errors.New("acp: the id of a request is neither a string nor a number")
}
