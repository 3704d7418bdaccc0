package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError explains an invalid flag without the names of Go's functions.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if invalid := new(pflag.InvalidValueError); errors.As(err, &invalid) {
		text = fmt.Sprintf("--%s %q: %v", invalid.GetFlag().Name, clip(invalid.GetValue(), 40), errors.Unwrap(invalid))
		if takes := valueOf(invalid.GetFlag().Value.Type(), errors.Is(err, strconv.ErrRange)); takes != "" {
			text = fmt.Sprintf("--%s takes %s, not %q", invalid.GetFlag().Name, takes, clip(invalid.GetValue(), 40))
		}
	}
	return usagef("%s: see `%s --help`", text, cmd.CommandPath())
}

// valueOf describes the values of a type of flags for people, or returns "".
func valueOf(kind string, outOfRange bool) string {
	switch kind {
	case "int", "int64", "int32", "uint", "uint32", "uint64":
		if outOfRange {
			return "a smaller whole number"
		}
		return "a whole number"
	case "float64":
		if outOfRange {
			return "a smaller number"
		}
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a duration such as 30m or 2h"
	}
	return ""
}

// packageNames are prefixes of errors that mean something to engineers only. They stay in logs.
var packageNames = regexp.MustCompile(`(^|: )(?:(?:atomicfile|attention|gitrepo|host|keyfile|push|relay|relayconn|sqlite|sqlstore|state|store|updater): )+`)

// withoutPackages removes the names of packages from a line of an error.
func withoutPackages(line string) string {
	return strings.TrimSpace(packageNames.ReplaceAllString(line, "$1"))
}
