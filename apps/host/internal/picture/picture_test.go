package picture_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/api"
)

// webp is a lossless image of one pixel.
const webp = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func samples(t testing.TB) map[string][]byte {
	t.Helper()
	canvas := image.NewPaletted(image.Rect(0, 0, 3, 2), color.Palette{color.Black, color.White})
	var p, j, g bytes.Buffer
	if err := png.Encode(&p, canvas); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, canvas, nil); err != nil {
		t.Fatal(err)
	}
	if err := gif.Encode(&g, canvas, nil); err != nil {
		t.Fatal(err)
	}
	w, err := base64.StdEncoding.DecodeString(webp)
	if err != nil {
		t.Fatal(err)
	}
	return map[string][]byte{"image/png": p.Bytes(), "image/jpeg": j.Bytes(), "image/gif": g.Bytes(), "image/webp": w}
}

func TestKindsByContent(t *testing.T) {
	for kind, data := range samples(t) {
		block, err := picture.Check(data)
		if err != nil || block.MimeType != kind || block.Width < 1 || block.Size != len(data) || len(block.SHA256) != 64 {
			t.Errorf("%s: %+v, %v", kind, block, err)
		}
		if again, err := picture.CheckBase64(block.Data); err != nil || again.SHA256 != block.SHA256 {
			t.Errorf("%s in base64: %v", kind, err)
		}
		// A truncated image is refused: a provider would refuse it with every later call.
		if _, err := picture.Check(data[:len(data)-6]); err == nil {
			t.Errorf("%s: one that is cut off was taken", kind)
		}
	}
}

func TestRefusals(t *testing.T) {
	huge := samples(t)["image/png"]
	copy(huge[16:], "\x00\x00\x20\x00") // 8192 pixels wide; the checksum of the header
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"nothing": {nil, "is not a PNG"},
		"text":    {[]byte("hello"), "is not a PNG"},
		"svg":     {[]byte("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"), "is not a PNG"},
		"a head":  {[]byte("\x89PNG\r\n\x1a\n"), "damaged"},
		"large":   {append([]byte("GIF89a"), make([]byte, api.MaxImageBytes)...), "the limit is 3932160"},
		"wide":    {append([]byte("GIF89a\xff\xff\x01\x00\x00\x00\x00"), ';'), "65535 x 1 pixels"},
		"header":  {huge, "damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := picture.Check(c.data); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
	if _, err := picture.CheckBase64("not base64!"); err == nil {
		t.Error("what is no base64 was taken")
	}
	if _, err := picture.CheckBase64(strings.Repeat("A", 8<<20)); err == nil {
		t.Error("what is too long was taken")
	}
}

func FuzzCheck(f *testing.F) {
	for _, data := range samples(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		block, err := picture.Check(data)
		if err == nil && (block.Width < 1 || block.Height < 1 || block.Width > api.MaxImagePixels || block.MimeType != picture.Sniff(data)) {
			t.Errorf("%+v was taken", block)
		}
	})
}
