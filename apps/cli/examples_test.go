package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"mvdan.cc/sh/v3/syntax"
)

// commandLines returns the words of every scorel command in shell text. Words that only the
// shell could expand, such as a variable, become "X".
func commandLines(t *testing.T, where, text string) [][]string {
	t.Helper()
	file, err := syntax.NewParser().Parse(strings.NewReader(text), where)
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return nil
	}
	var lines [][]string
	syntax.Walk(file, func(node syntax.Node) bool {
		call, ok := node.(*syntax.CallExpr)
		if !ok {
			return true
		}
		args := call.Args
		if len(args) > 1 && slices.Contains([]string{"sudo", "npx"}, args[0].Lit()) {
			args = args[1:]
		}
		if len(args) == 0 || args[0].Lit() != "scorel" {
			return true
		}
		var words []string
		for _, word := range args[1:] {
			words = append(words, wordText(word.Parts))
		}
		lines = append(lines, words)
		return true
	})
	return lines
}

func wordText(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text.WriteString(p.Value)
		case *syntax.SglQuoted:
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			text.WriteString(wordText(p.Parts))
		default:
			text.WriteString("X")
		}
	}
	return text.String()
}

// quietApp returns an app without an environment whose output is lost.
func quietApp() *app {
	discard := new(bytes.Buffer)
	return &app{console: console{discard, discard, discard}, env: &environment{getenv: func(string) string { return "" }}}
}

// tryLine validates a command line without running it.
func tryLine(words []string) error {
	root := newRoot(quietApp())
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return err
	}
	args := cmd.Flags().Args()
	if cmd.HasAvailableSubCommands() && len(args) > 0 {
		return runGroup(cmd, args)
	}
	return cmd.ValidateArgs(args)
}

func eachCommand(cmd *cobra.Command, do func(*cobra.Command)) {
	do(cmd)
	for _, child := range cmd.Commands() {
		eachCommand(child, do)
	}
}

// TestExamplesOfTheHelpParse: the examples in the help are valid, and every command that
// does something has one.
func TestExamplesOfTheHelpParse(t *testing.T) {
	count := 0
	eachCommand(newRoot(quietApp()), func(cmd *cobra.Command) {
		if ofCobra(cmd) {
			return
		}
		lines := commandLines(t, cmd.CommandPath(), cmd.Example)
		if !slices.ContainsFunc(lines, func(words []string) bool {
			return strings.HasPrefix("scorel "+strings.Join(words, " "), cmd.CommandPath())
		}) {
			t.Errorf("%s has no example of itself", cmd.CommandPath())
		}
		for _, words := range lines {
			count++
			if err := tryLine(words); err != nil {
				t.Errorf("the example %q of %s: %v", words, cmd.CommandPath(), err)
			}
		}
	})
	if count < 100 {
		t.Errorf("only %d examples were found", count)
	}
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	inlineCode = regexp.MustCompile("`(scorel [^`]+)`")
	optional   = regexp.MustCompile(`\[[^\]]*\]|\.\.\.`)
)

// TestCommandsOfTheDocumentsParse: every command in the documents exists and has the given
// flags.
func TestCommandsOfTheDocumentsParse(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d documents, %v", len(files), err)
	}
	count := 0
	for _, name := range append(files, "../../README.md", "../../README.zh-CN.md", "../../AGENTS.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var lines [][]string
		for _, block := range shellBlock.FindAllSubmatch(data, -1) {
			lines = append(lines, commandLines(t, name, string(block[1]))...)
		}
		for _, line := range lines {
			count++
			if err := tryLine(line); err != nil {
				t.Errorf("%s: %q: %v", name, line, err)
			}
		}
		for _, code := range inlineCode.FindAllSubmatch(data, -1) {
			count++
			checkNamed(t, name, optional.ReplaceAllString(string(code[1]), ""))
		}
	}
	if count < 80 {
		t.Errorf("only %d commands were found", count)
	}
}

// checkNamed checks a command in running text, which may omit its arguments.
func checkNamed(t *testing.T, name, text string) {
	t.Helper()
	for _, words := range commandLines(t, name, text) {
		root := newRoot(quietApp())
		cmd, rest, err := root.Find(words)
		if err == nil && cmd.HasAvailableSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
			err = runGroup(cmd, rest)
		}
		for _, word := range rest {
			flag, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
			if err == nil && strings.HasPrefix(word, "--") && len(word) > 2 && cmd.Flag(flag) == nil {
				t.Errorf("%s: `%s`: there is no flag %s", name, text, word)
			}
		}
		if err != nil {
			t.Errorf("%s: `%s`: %v", name, text, err)
		}
	}
}
