package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestDocumentOfTheCommandsIsFresh: docs/cli.md is the help of every command. Run
// `go test . -run Document -update` in apps/cli to write it.
func TestDocumentOfTheCommandsIsFresh(t *testing.T) {
	const document = "docs/cli.md"
	want := commandReference()
	if *update {
		if err := os.WriteFile("../../"+document, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if readDocument(t, document) != want {
		t.Errorf("%s differs from the help: run `go test . -run Document -update` in apps/cli", document)
	}
}

// commandReference returns docs/cli.md.
func commandReference() string {
	var text strings.Builder
	text.WriteString("# Commands\n\nThis page lists every command with its flags. It is generated from the help, which `--help` shows for each\n" +
		"command. All commands also take `--home`, which names another folder than `~/.scorel`.\n")
	eachCommand(newRoot(quietApp()), func(cmd *cobra.Command) {
		if !ofCobra(cmd) {
			writeCommand(&text, cmd)
		}
	})
	return text.String()
}

// ofCobra reports whether a command is the library's own.
func ofCobra(cmd *cobra.Command) bool {
	return cmd.Name() == "help" || cmd.HasParent() && cmd.Parent().Name() == "completion"
}

func writeCommand(text *strings.Builder, cmd *cobra.Command) {
	fmt.Fprintf(text, "\n## %s\n\n", cmd.CommandPath())
	about := cmd.Long
	if about == "" {
		about = cmd.Short
	}
	parts := []string{strings.TrimSpace(about), "Usage:\n  " + cmd.UseLine()}
	flags := cmd.LocalNonPersistentFlags().FlagUsages()
	if lines := slices.DeleteFunc(strings.Split(flags, "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.Contains(line, "--help ")
	}); len(lines) > 0 {
		parts = append(parts, "Flags:\n"+strings.Join(lines, "\n"))
	}
	fmt.Fprintf(text, "```text\n%s\n```\n", strings.Join(parts, "\n\n"))
	if example := strings.TrimRight(unindent(cmd.Example), "\n"); example != "" {
		fmt.Fprintf(text, "\n```sh\n%s\n```\n", example)
	}
}

// unindent removes the two spaces that the help begins each line of an example with.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
