package modeltest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// maxImageData is the largest image that the strictest provider accepts, in bytes of
// base64.
const maxImageData = 5 << 20

// Picture returns a PNG of one pixel.
func Picture() session.Block {
	block := session.Block{
		Type: session.BlockImage, MimeType: "image/png", Width: 1, Height: 1,
		Data: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
	}
	block.SHA256, block.Size = session.HashImage(block.Data)
	return block
}

// checkImage rejects an image that is too large, of an unsupported type, or of another type
// than declared.
func checkImage(declared, data string) error {
	decoded, err := base64.StdEncoding.DecodeString(data)
	switch {
	case err != nil || len(decoded) == 0:
		return errors.New("invalid base64 data")
	case len(data) > maxImageData:
		return fmt.Errorf("image exceeds 5 MB maximum: %d bytes > %d bytes", len(data), maxImageData)
	case !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, declared):
		return fmt.Errorf("media_type: %q is not accepted", declared)
	}
	if actual := http.DetectContentType(decoded); actual != declared {
		return fmt.Errorf("the image was specified as %s, but appears to be %s", declared, actual)
	}
	return nil
}

// checkDataURL is checkImage for an image in a data: URL.
func checkDataURL(url string) error {
	head, data, ok := strings.Cut(url, ";base64,")
	declared, isData := strings.CutPrefix(head, "data:")
	if !ok || !isData {
		return errors.New("the URL of the image is not valid")
	}
	return checkImage(declared, data)
}
