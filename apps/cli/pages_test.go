package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"mvdan.cc/sh/v3/syntax"
)

// The shell blocks of the pages are run in one of two ways. testdata/pages.txtar runs blocks as they
// are. A block that has only commands of scorel is run command by command in the other scripts: most
// of them serve until they are stopped, or name a machine of the reader. notRun lists the rest.

// notRun says why no test runs a block, by its page and what it begins with.
var notRun = map[string]map[string]string{
	"README.md": {
		"curl -fsSL https":   "downloads a release: `make test-install` does that with one of its own",
		"make build":         "builds the program that the tests are part of",
		"scorel relay serve": "two servers, each of which the scripts start",
	},
	"docs/benchmarks.md": {
		"make bench":      "measures for minutes; `make bench-check` builds it",
		"make build":      "measures for minutes, with a browser",
		"make bin/bench":  "downloads what it compares with, and measures for minutes",
		"cd apps/cli/e2e": "measures for minutes",
		"cd apps/host":    "measures for minutes",
	},
	"docs/channels.md": {"make feishu": "builds a program of its own, outside go.work"},
	"docs/install.md": {
		"curl -fsSL https": "downloads a release: `make test-install` does that with one of its own",
		"brew install":     "needs Homebrew; a test of packages/release checks the text of the formula",
		"sudo apt install": "installs in the system; `make test-install` installs both packages in roots of its own",
		"minisign -Vm":     "needs minisign; tests of packages/release check signatures",
	},
	"docs/kubernetes.md": {
		"kubectl create": "needs a cluster; `make test-deploy` decodes the manifests into the types of Kubernetes",
		"helm install":   "the same",
		"kubectl apply":  "the same",
	},
	"docs/operations.md": {
		"sqlite3 relay.db":            "needs the program of SQLite, which is not among the tools of the tests",
		"printf 'SCOREL_PUBLIC_URL":   "needs Docker: `make test-containers` runs it",
		"scorel service install host": "loginctl needs systemd and a login; testdata/service.txtar installs services",
		"docker compose":              "needs Docker: `make test-containers` runs it",
	},
	"docs/quickstart.md":       {"curl -fsSL https": "downloads a release: `make test-install` does that with one of its own"},
	"docs/quickstart.zh-CN.md": {"curl -fsSL https": "the same"},
	"docs/self-hosting.md":     {"curl -fsSL https": "downloads a release, and installs a service of the system"},
	"docs/releasing.md": {
		"minisign -G":             "needs minisign",
		"SCOREL_RELEASE_KEY_FILE": "builds for every platform, which takes minutes; `make test-install` makes a release for one",
		"make release":            "the same",
	},
	"docs/reverse-proxies.md": {
		"cloudflared tunnel": "needs an account of Cloudflare",
		"tailscale funnel":   "needs an account of Tailscale",
	},
}

// cmdPage runs blocks of shell of a page in one shell, with texts in them replaced:
//
//	page FILE BEGIN... [-- FROM TO...]
func cmdPage(ts *testscript.TestScript, _ *stage, args []string) {
	wantArgs(ts, args, 2)
	begins, pairs := args[1:], []string{}
	if i := slices.Index(begins, "--"); i >= 0 {
		begins, pairs = begins[:i], begins[i+1:]
	}
	data, err := os.ReadFile(filepath.Join(ts.Getenv("PAGES"), args[0]))
	ts.Check(err)
	var script strings.Builder
	for _, begin := range begins {
		block := blockOf(string(data), begin)
		if block == "" {
			ts.Fatalf("%s has no block of shell that begins with %q", args[0], begin)
		}
		script.WriteString(block)
	}
	text := script.String()
	for i := 0; i+1 < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			ts.Fatalf("the block has no %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	ts.Check(ts.Exec("bash", "-euo", "pipefail", "-c", text))
}

// blockOf returns the first block of shell that begins with a text.
func blockOf(page, begin string) string {
	for _, block := range shellBlock.FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(block[1], begin) {
			return block[1]
		}
	}
	return ""
}

// TestBlocksOfThePagesAreRun: each block of shell is run, command by command or as a whole, or listed
// above with a reason.
func TestBlocksOfThePagesAreRun(t *testing.T) {
	whole, commands := runByScripts(t)
	used := map[string]bool{}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d pages, %v", len(files), err)
	}
	count := 0
	for _, name := range append(files, "../../README.md") {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page, err := filepath.Rel("../..", name)
		if err != nil {
			t.Fatal(err)
		}
		if page = filepath.ToSlash(page); page == "docs/cli.md" {
			continue // the examples of the help, which TestExamplesOfTheHelpParse checks
		}
		for _, block := range shellBlock.FindAllStringSubmatch(string(data), -1) {
			count++
			if !whole(page, block[1]) && !isListed(page, block[1], used) {
				requireCommands(t, page, block[1], commands)
			}
		}
	}
	if count < 60 {
		t.Errorf("only %d blocks were found", count)
	}
	for page, blocks := range notRun {
		for begin := range blocks {
			if !used[page+begin] {
				t.Errorf("%s has no block that begins with %q", page, begin)
			}
		}
	}
}

func isListed(page, block string, used map[string]bool) bool {
	found := false
	for begin := range notRun[page] {
		if strings.HasPrefix(strings.TrimSpace(block), begin) {
			used[page+begin], found = true, true
		}
	}
	return found
}

// requireCommands checks that a block has commands of scorel only, and that a script runs each.
func requireCommands(t *testing.T, page, block string, commands map[string]bool) {
	t.Helper()
	first, _, _ := strings.Cut(block, "\n")
	file, err := syntax.NewParser().Parse(strings.NewReader(block), page)
	if err != nil {
		t.Errorf("%s: %v", page, err)
		return
	}
	calls := 0
	syntax.Walk(file, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok && len(call.Args) > 0 {
			calls++
		}
		return true
	})
	lines := commandLines(t, page, block)
	if len(lines) != calls || calls == 0 {
		t.Errorf("%s: no test runs the block that begins with %q: run it in testdata/pages.txtar, or say in notRun why not", page, first)
	}
	for _, words := range lines {
		if cmd, _, err := newRoot(quietApp()).Find(words); err != nil || !commands[cmd.CommandPath()] {
			t.Errorf("%s: no script runs the command of %q", page, words)
		}
	}
}

// runByScripts returns what the scripts run: blocks of pages, and commands by their names.
func runByScripts(t *testing.T) (whole func(page, block string) bool, commands map[string]bool) {
	t.Helper()
	scripts, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(scripts) < 10 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	commands = map[string]bool{}
	pages := map[string][]string{}
	for _, name := range scripts {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			words := strings.Fields(strings.TrimPrefix(line, "! "))
			switch {
			case len(words) > 2 && words[0] == "exec" && words[1] == "scorel", len(words) > 2 && (words[0] == "code" || words[0] == "start"):
				if cmd, _, err := newRoot(quietApp()).Find(words[2:]); err == nil {
					commands[cmd.CommandPath()] = true
				}
			case len(words) > 2 && words[0] == "page":
				pages[words[1]] = append(pages[words[1]], line)
			}
		}
	}
	return func(page, block string) bool {
		return slices.ContainsFunc(pages[page], func(line string) bool {
			for i, begin := range strings.Split(line, "'") {
				if i%2 == 1 && strings.HasPrefix(strings.TrimSpace(block), begin) {
					return true
				}
			}
			return false
		})
	}, commands
}
