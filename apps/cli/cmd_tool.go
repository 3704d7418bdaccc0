package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/apps/host"
)

func newTool(a *app) *cobra.Command {
	return group("tool", "List the agent's tools, and run one by hand",
		"  scorel tool list\n  scorel tool run grep --args '{\"pattern\":\"TODO\"}'",
		newToolList(a), newToolRun(a))
}

func newToolList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the agent's tools and their arguments",
		Long: `List the tools of the agent on this machine, with their groups and arguments. With --json,
each line is one tool with the JSON Schema of its arguments.`,
		Example: "  scorel tool list\n  scorel tool list --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	addJSON(cmd, &asJSON)
	cmd.RunE = func(*cobra.Command, []string) error {
		home, err := a.env.home()
		if err != nil {
			return err
		}
		tools, err := host.Tools(home)
		if err != nil {
			return err
		}
		return printList(a.stdout, asJSON, tools, listing[host.Tool]{
			header: []string{"NAME", "GROUP", "ASKS", "WHAT"},
			row: func(_ int, t host.Tool) []string {
				asks := "no"
				if t.Risk != "read" {
					asks = "yes"
				}
				return []string{t.Name, t.Toolset, asks, clip(t.Description, 80)}
			},
		})
	}
	return cmd
}

// maxToolArgs bounds the arguments read from a file or standard input, in bytes.
const maxToolArgs = 32 << 20

func newToolRun(a *app) *cobra.Command {
	var (
		asJSON    bool
		args, cwd string
	)
	cmd := &cobra.Command{
		Use:   "run NAME --args JSON",
		Short: "Run one tool and print its result",
		Long: `Run one tool on this machine, without a host. It has the same effect as for the agent, so
patch changes the file, and it does not ask for approval. The result object is printed as
JSON, with --json on one line; the exit code is 1 if the tool failed. For patch the object is
{ok, strategy, count, diff, error}. Arguments that begin with @ are read from that file, @-
from standard input. Background jobs end with the command.`,
		Example: "  scorel tool run read_file --args '{\"path\":\"README.md\"}'\n" +
			"  scorel tool run patch --args '{\"path\":\"a.go\",\"old_string\":\"x := 1\",\"new_string\":\"x := 2\"}' --cwd ~/code --json",
		Args: argCount(1, 1, "the name of one tool"),
	}
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&args, "args", "", "arguments of the tool: a JSON object, @FILE or @- (default: {})")
	cmd.Flags().StringVar(&cwd, "cwd", "", "folder to work in (default: this one)")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		raw, err := toolArgs(cmd.Context(), a.stdin, args)
		if err != nil {
			return err
		}
		dir, err := folderFlag("--cwd", cwd)
		if err != nil {
			return err
		}
		home, err := a.env.home()
		if err != nil {
			return err
		}
		progress := func(text string) { fmt.Fprint(a.stderr, printableLines(text)) }
		object, ok, err := host.RunTool(cmd.Context(), home, names[0], raw, dir, progress)
		if errors.Is(err, host.ErrNoTool) {
			return unknownTool(home, dir, names[0])
		}
		if err != nil {
			return err
		}
		if err := printObject(a.stdout, object, asJSON); err != nil {
			return err
		}
		if !ok {
			return sayf(errToolFailed, "the tool %s failed: see \"error\" in its result", names[0])
		}
		return nil
	}
	return cmd
}

var errToolFailed = errors.New("the tool failed")

// toolArgs reads the arguments, which must be a JSON object. The tool validates its
// content.
func toolArgs(ctx context.Context, stdin io.Reader, given string) (json.RawMessage, error) {
	text := given
	if from, ok := strings.CutPrefix(given, "@"); ok {
		data, err := readArgs(ctx, stdin, from)
		if err != nil {
			return nil, err
		}
		text = string(data)
	}
	if given == "" {
		text = "{}"
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &object); err != nil || object == nil {
		return nil, usagef("--args is not a JSON object: give for example --args '{\"path\":\"README.md\"}'")
	}
	return json.RawMessage(text), nil
}

func readArgs(ctx context.Context, stdin io.Reader, from string) ([]byte, error) {
	reader := stdin
	if from != "-" {
		file, err := os.Open(from)
		if err != nil {
			return nil, usagef("--args names the file %s, which cannot be read: give a file with a JSON object", from)
		}
		defer file.Close()
		reader = file
	}
	data, err := terminal.ReadUpTo(ctx, reader, maxToolArgs)
	if err != nil {
		return nil, fmt.Errorf("reading the arguments: %w", err)
	}
	if len(data) > maxToolArgs {
		return nil, usagef("the arguments are larger than the limit of %d bytes", maxToolArgs)
	}
	return data, nil
}

// folderFlag makes the folder of a flag absolute; "" means the current one.
func folderFlag(flag, given string) (string, error) {
	dir, err := filepath.Abs(given)
	if err != nil {
		return "", fmt.Errorf("resolving %s: %w", given, err)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", usagef("%s %s is not a folder: give an existing one", flag, dir)
	}
	return dir, nil
}

// unknownTool explains why a tool cannot be run by hand: some exist only together with what
// they work on.
func unknownTool(home, dir, name string) error {
	tools, err := host.Tools(home)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(tools))
	for _, t := range tools {
		if t.Name == name && t.Toolset == "skill" {
			return usagef("%s needs a skill, and %s has none: `scorel skill list` shows them and what was left out", name, dir)
		}
		if t.Name == name {
			return usagef("%s works only in a session: ask the agent for it, with `scorel send`", name)
		}
		names = append(names, t.Name)
	}
	return usagef("there is no tool %q: the tools are %s", name, strings.Join(names, ", "))
}

// printObject prints JSON on one line, or indented for people.
func printObject(w io.Writer, object json.RawMessage, oneLine bool) error {
	if oneLine {
		return printJSON(w, object)
	}
	var out bytes.Buffer
	if err := json.Indent(&out, object, "", "  "); err != nil {
		return fmt.Errorf("printing the result: %w", err)
	}
	out.WriteByte('\n')
	_, err := io.WriteString(w, escaped(out.String()))
	return err
}
