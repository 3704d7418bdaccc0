package session

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JavaScript strings are UTF-16 and may hold half of a surrogate pair. In Go such a
// half is kept as the three bytes that UTF-8 would need for it, which no other text
// contains, and is written as an escape again. So nothing is lost.

// unquote returns the text of a JSON string that has already been scanned.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var out strings.Builder
	out.Grow(len(inner))
	for i := 0; i < len(inner); {
		plain := bytes.IndexByte(inner[i:], '\\')
		if plain < 0 {
			plain = len(inner) - i
		}
		if plain > 0 {
			out.Write(inner[i : i+plain])
			i += plain
			continue
		}
		if inner[i+1] != 'u' {
			out.WriteByte(unescaped(inner[i+1]))
			i += 2
			continue
		}
		r, _ := hex4(inner, i+2)
		i += 6
		if utf16.IsSurrogate(r) && i+6 <= len(inner) && inner[i] == '\\' && inner[i+1] == 'u' {
			low, _ := hex4(inner, i+2)
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				r = pair
				i += 6
			}
		}
		var wide [utf8.UTFMax]byte
		out.Write(appendWide(wide[:0], r))
	}
	return out.String()
}

func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// appendWide is utf8.AppendRune that preserves half of a surrogate pair.
func appendWide(dst []byte, r rune) []byte {
	if utf16.IsSurrogate(r) {
		return append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0xbf, 0x80|byte(r)&0xbf)
	}
	return utf8.AppendRune(dst, r)
}

const hexDigits = "0123456789abcdef"

// appendQuoted writes s as JSON.stringify does: quotes, backslashes, control
// characters and halves of surrogate pairs are escaped, and nothing else.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			dst = appendControl(dst, c)
		case c == 0xed && i+2 < len(s) && s[i+1] >= 0xa0 && s[i+1] <= 0xbf && s[i+2]&0xc0 == 0x80:
			half := 0xd000 | uint16(s[i+1]&0x3f)<<6 | uint16(s[i+2]&0x3f)
			dst = append(dst, '\\', 'u', hexDigits[half>>12], hexDigits[half>>8&15], hexDigits[half>>4&15], hexDigits[half&15])
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

func appendControl(dst []byte, c byte) []byte {
	if i := strings.IndexByte("\b\t\n\f\r", c); i >= 0 {
		return append(dst, '\\', "btnfr"[i])
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
}

// trim removes the white space that JavaScript's String.trim removes.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) && r != '\u0085' || r == '\ufeff' })
}

// validText returns b with each ill-formed sequence of UTF-8 replaced by one
// U+FFFD, as web decoders do: a sequence is as much as could have begun a
// character. It returns b itself if there is none.
func validText(b []byte) []byte {
	if utf8.Valid(b) {
		return b
	}
	out := make([]byte, 0, len(b)+8)
	for len(b) > 0 {
		if r, size := utf8.DecodeRune(b); r != utf8.RuneError || size > 1 {
			out = append(out, b[:size]...)
			b = b[size:]
			continue
		}
		out = append(out, "\uFFFD"...)
		b = b[brokenSize(b):]
	}
	return out
}

// brokenSize returns the length of the ill-formed sequence at the start of b.
func brokenSize(b []byte) int {
	size := 1
	for size < len(b) && !utf8.FullRune(b[:size+1]) {
		size++
	}
	return size
}
