package terminal

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is the width in modules of the margin that the standard asks for.
const quiet = 4

// beside is how many rows of a terminal are left for other text beside a large QR code.
const beside = 6

// QR draws text as a QR code, light on dark, which suits most terminals. In a terminal that
// has the room, a module is two characters wide and one row high, so that a camera can read
// it from across a desk. Otherwise one character is two modules, one above the other.
// Columns and rows are the size of the terminal; 0 if it is unknown.
func QR(text string, columns, rows int) (string, error) {
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		return "", fmt.Errorf("drawing a QR code: %w", err)
	}
	if side := code.Size + 2*quiet; columns >= 2*side && rows >= side+beside {
		return largeQR(code), nil
	}
	return smallQR(code), nil
}

func largeQR(code *qr.Code) string {
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y++ {
		for x := -quiet; x < code.Size+quiet; x++ {
			if light(code, x, y) {
				b.WriteString("██")
			} else {
				b.WriteString("  ")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func smallQR(code *qr.Code) string {
	var b strings.Builder
	for y := -quiet; y < code.Size+quiet; y += 2 {
		for x := -quiet; x < code.Size+quiet; x++ {
			b.WriteRune(halfBlock(light(code, x, y), y+1 < code.Size+quiet && light(code, x, y+1)))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// light reports whether a module is drawn; the margin is.
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
