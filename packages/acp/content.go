package acp

import (
	"bytes"
	"encoding/json"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// The types of content blocks.
const (
	BlockText         = "text"
	BlockImage        = "image"
	BlockAudio        = "audio"
	BlockResourceLink = "resource_link"
	BlockResource     = "resource"
)

// ContentBlock is a piece of a message or of a tool's output.
type ContentBlock struct {
	Type        string            `json:"type"`
	Text        string            `json:"text,omitempty"`
	Data        string            `json:"data,omitempty"` // base64
	MimeType    string            `json:"mimeType,omitempty"`
	URI         string            `json:"uri,omitempty"`
	Name        string            `json:"name,omitempty"`
	Title       string            `json:"title,omitempty"`
	Description string            `json:"description,omitempty"`
	Size        int64             `json:"size,omitempty"`
	Resource    *ResourceContents `json:"resource,omitempty"`
	Annotations json.RawMessage   `json:"annotations,omitempty"`
	Meta        Meta              `json:"_meta,omitempty"`

	// Raw is what the block was decoded from, which it is encoded as; set it to nil after a
	// change.
	Raw json.RawMessage `json:"-"`
}

// ResourceContents is an embedded resource: Text, or Blob in base64.
type ResourceContents struct {
	URI      string `json:"uri"`
	MimeType string `json:"mimeType,omitempty"`
	Text     string `json:"text,omitempty"`
	Blob     string `json:"blob,omitempty"`
	Meta     Meta   `json:"_meta,omitempty"`
}

// Text returns a block of text.
func Text(text string) ContentBlock { return ContentBlock{Type: BlockText, Text: text} }

// Image returns a block with an image in base64.
func Image(mimeType, data string) ContentBlock {
	return ContentBlock{Type: BlockImage, MimeType: mimeType, Data: data}
}

// UnmarshalJSON implements json.Unmarshaler. A field of a wrong type is left out, as the schema
// asks for: Raw has it.
func (b *ContentBlock) UnmarshalJSON(data []byte) error {
	type plain ContentBlock
	return keep(data, (*plain)(b), &b.Raw)
}

// MarshalJSON implements json.Marshaler.
func (b ContentBlock) MarshalJSON() ([]byte, error) {
	type plain ContentBlock
	if b.Raw != nil {
		return b.Raw, nil
	}
	if b.Type == BlockText { // an empty text is one
		return raw(struct {
			plain
			Text string `json:"text"`
		}{plain(b), b.Text})
	}
	return raw(plain(b))
}

// keep decodes an element of a union and keeps the text that it is decoded from. Known kinds
// can carry what this package does not expect, and what cannot be understood is still shown.
func keep(data []byte, v any, kept *json.RawMessage) error {
	*kept = bytes.Clone(data)
	if err := exactjson.Unmarshal(data, v); err != nil {
		var object map[string]json.RawMessage
		return json.Unmarshal(data, &object) // an object it must be
	}
	return nil
}
