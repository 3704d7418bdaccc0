// Package picture determines from its content what an image is and whether models accept
// it. File names and declared types are ignored, and no pixel is decoded.
package picture

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // registers the format
	_ "image/jpeg" // registers the format
	_ "image/png"  // registers the format
	"strings"

	_ "golang.org/x/image/webp" // registers the format

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Error says why data is not an image that models accept. Its text completes a sentence
// that begins with the image's name.
type Error struct {
	TooLarge bool // it is an image, but over a limit
	text     string
}

func (e *Error) Error() string { return e.text }

// Sniff returns the MIME type of data that begins like an image of a kind that models
// accept, or "".
func Sniff(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

// Check returns the image block of data, with its hash and dimensions. The error is an
// *Error: the data is not a PNG, JPEG, GIF or WebP image, is truncated, or exceeds a limit
// of package api.
func Check(data []byte) (session.Block, error) {
	kind := Sniff(data)
	if kind == "" {
		return session.Block{}, &Error{text: "is not a PNG, JPEG, GIF or WebP image"}
	}
	if len(data) > api.MaxImageBytes {
		return session.Block{}, &Error{TooLarge: true, text: fmt.Sprintf("has %d bytes, the limit is %d: make it smaller", len(data), api.MaxImageBytes)}
	}
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil || "image/"+format != kind || config.Width <= 0 || config.Height <= 0 {
		return session.Block{}, &Error{text: "is damaged: its header cannot be read as " + kind}
	}
	if config.Width > api.MaxImagePixels || config.Height > api.MaxImagePixels {
		return session.Block{}, &Error{TooLarge: true, text: fmt.Sprintf("is %d x %d pixels, the limit is %d on each side: make it smaller", config.Width, config.Height, api.MaxImagePixels)}
	}
	if !complete(kind, data) {
		return session.Block{}, &Error{text: "is incomplete: its end is missing"}
	}
	hash := sha256.Sum256(data)
	return session.Block{
		Type: session.BlockImage, Data: base64.StdEncoding.EncodeToString(data), MimeType: kind,
		SHA256: hex.EncodeToString(hash[:]), Size: len(data), Width: config.Width, Height: config.Height,
	}, nil
}

// CheckBase64 is Check for base64-encoded data.
func CheckBase64(text string) (session.Block, error) {
	if base64.StdEncoding.DecodedLen(len(text)) > api.MaxImageBytes+2 {
		return session.Block{}, &Error{TooLarge: true, text: fmt.Sprintf("is over the limit of %d bytes: make it smaller", api.MaxImageBytes)}
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return session.Block{}, &Error{text: "is not base64"}
	}
	return Check(data)
}

// complete reports whether the format's end marker is present: providers refuse a truncated
// image, and with it every later request of its session.
func complete(kind string, data []byte) bool {
	switch kind {
	case "image/png":
		return bytes.Contains(data[max(0, len(data)-64):], []byte("IEND\xaeB`\x82"))
	case "image/jpeg":
		// Some cameras append data after the end of the image.
		return bytes.LastIndex(data, []byte("\xff\xd9")) > 0
	case "image/gif":
		return bytes.HasSuffix(bytes.TrimRight(data, "\x00"), []byte(";"))
	case "image/webp":
		return uint64(binary.LittleEndian.Uint32(data[4:8]))+8 <= uint64(len(data))
	}
	return false
}

// Refuse converts an error of Check to one for a client. what names the image.
func Refuse(what string, err error) error {
	kind := api.KindBadRequest
	var unfit *Error
	if errors.As(err, &unfit) && unfit.TooLarge {
		kind = api.KindTooLarge
	}
	return api.Errorf(kind, "%s %s", what, strings.TrimSuffix(err.Error(), "."))
}
