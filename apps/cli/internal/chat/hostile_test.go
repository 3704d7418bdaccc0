package chat

import (
	"context"
	"encoding/base64"
	"regexp"
	"unicode"

	"github.com/scorel/scorel/packages/client"
)

// pngPixel is an image of one pixel.
var pngPixel = func() []byte {
	data, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return data
}()

// painting is a sequence that changes colors and nothing else. 8 would hide text.
var painting = regexp.MustCompile(`^\x1b\[([0-7]|9|[0-9]{2,3}|[;:])*m`)

// onlyColors returns the place of the first control character that is not a line end or part of
// a change of colors, or -1.
func onlyColors(text string) int {
	for i := 0; i < len(text); {
		if found := painting.FindString(text[i:]); found != "" {
			i += len(found)
			continue
		}
		r, size := rune(text[i]), 1
		if r >= 0x80 {
			for _, r = range text[i:] {
				size = len(string(r))
				break
			}
		}
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)) {
			return i
		}
		i += size
	}
	return -1
}

// recording remembers the last transport, so that a test can cut it.
func recording(dial func(context.Context) (client.Transport, error), last *client.Transport) func(context.Context) (client.Transport, error) {
	return func(ctx context.Context) (client.Transport, error) {
		transport, err := dial(ctx)
		if err == nil && *last == nil {
			*last = transport
		}
		return transport, err
	}
}
