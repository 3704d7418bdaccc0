package cli

import (
	"regexp"
	"strings"
	"unicode"
)

// ofField is the error about a field of a request, as the host sends it to programs.
var ofField = regexp.MustCompile(`^[a-z_]+: the field "(?:[^"]*\.)?([A-Za-z]+)(\[\d+\])?" (.*)$`)

// withoutRequest names a field as people do. They gave a flag or an argument, not a request.
func withoutRequest(line string) string {
	found := ofField.FindStringSubmatch(line)
	if found == nil {
		return line
	}
	subject := "the " + words(found[1])
	if found[2] != "" {
		subject = "one of " + subject
	}
	line = subject + " " + found[3]
	if strings.Contains(line, ", the limit is ") {
		line += ": shorten it"
	}
	return line
}

// words separates the words of a name such as clientKey.
func words(name string) string {
	var out strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			out.WriteByte(' ')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
