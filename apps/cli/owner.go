package cli

import (
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// otherOwner returns the name of the user that a folder belongs to, or "" if that is the user with
// the number uid or is not known.
func otherOwner(folder string, uid int) string {
	info, err := os.Stat(folder)
	if err != nil {
		return ""
	}
	owner, _, known := ownerOf(info)
	if !known || owner == uid {
		return ""
	}
	id := strconv.Itoa(owner)
	if person, err := user.LookupId(id); err == nil {
		return person.Username
	}
	return "user " + id
}

// withHome adds --home to arguments, unless they have it.
func withHome(args []string, home string) []string {
	for _, arg := range args {
		if arg == "--home" || strings.HasPrefix(arg, "--home=") {
			return args
		}
	}
	return append(slices.Clone(args), "--home", home)
}

// commandLine writes words as a person enters them in a shell.
func commandLine(words ...string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		text, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil { // such as a control character, which POSIX cannot quote
			text = printable(word)
		}
		quoted[i] = text
	}
	return strings.Join(quoted, " ")
}
