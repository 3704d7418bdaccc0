package terminal

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the width in modules of the margin that readers need.
const quiet = 2

// QR draws text as a QR code of half blocks: one character is two modules, one
// above the other. It is light on dark, as terminals mostly are.
func QR(text string) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteRune(halfBlock(light(code, x, y), y+1 < code.Size+quiet && light(code, x, y+1)))
		}
		b.WriteByte('\n')
	}
	return b.String(), nil
}

// light tells whether a module is drawn; the margin is.
func light(code *qr.Code, x, y int) bool { return !code.Black(x, y) }

func halfBlock(upper, lower bool) rune {
	switch {
	case upper && lower:
		return '█'
	case upper:
		return '▀'
	case lower:
		return '▄'
	}
	return ' '
}
