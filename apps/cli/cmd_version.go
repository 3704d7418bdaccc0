package cli

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// version is set in release builds: -ldflags "-X
// github.com/scorel/scorel/apps/cli.version=v1.2.3". Nothing else sets it.
var version = "dev"

// releaseKeys are the public keys that sign releases, separated by commas. Release builds set
// them like version; a build from source trusts none.
var releaseKeys = ""

type versionInfo struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersion(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  scorel version\n  scorel version --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			info := versionInfo{version, runtime.Version(), runtime.GOOS, runtime.GOARCH}
			if asJSON {
				return printJSON(a.stdout, info)
			}
			_, err := fmt.Fprintln(a.stdout, versionLine())
			return err
		},
	}
	addJSON(cmd, &asJSON)
	return cmd
}

func addJSON(cmd *cobra.Command, asJSON *bool) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print JSON, one object per line")
}

// versionLine is the version for people: what "scorel --version" prints too.
func versionLine() string {
	return fmt.Sprintf("scorel %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
