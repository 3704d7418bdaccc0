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

// once hands over the first transport, so that a test can cut it, and makes no other until again
// is closed.
func once(dial func(context.Context) (client.Transport, error), first chan<- client.Transport, again <-chan struct{}) func(context.Context) (client.Transport, error) {
	handed := false // the feed dials from one goroutine
	return func(ctx context.Context) (client.Transport, error) {
		if handed {
			select {
			case <-again:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		transport, err := dial(ctx)
		if err == nil && !handed {
			handed = true
			first <- transport
		}
		return transport, err
	}
}
