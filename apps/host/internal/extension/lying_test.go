package extension_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestALyingExtensionIsRefused: what people could misread, or what is another thing on another
// system, is not copied at all.
func TestALyingExtensionIsRefused(t *testing.T) {
	many := map[string]string{}
	for i := range 2001 {
		many[fmt.Sprintf("files/%d", i)] = ""
	}
	for name, c := range map[string]struct {
		files map[string]string
		after func(t *testing.T, folder string)
		want  string
	}{
		"no manifest":        {files: map[string]string{"extension.json": ""}, want: "not valid JSON"},
		"control characters": {files: map[string]string{"skills/a\x1b[2J.md": ""}, want: "cannot be shown"},
		"right to left":      {files: map[string]string{"hooks/\u202egpj.sh": ""}, want: "cannot be shown"},
		"zero width":         {files: map[string]string{"hooks/run\u200b.sh": ""}, want: "cannot be shown"},
		"combining":          {files: map[string]string{"hooks/ru\u0301n.sh": ""}, want: "cannot be shown"},
		"backslash":          {files: map[string]string{`..\..\x`: ""}, want: "not allowed"},
		"trailing dot":       {files: map[string]string{"hooks/run.": ""}, want: "ends with a dot"},
		"case":               {files: map[string]string{"hooks/Run.sh": "", "hooks/run.sh": ""}, want: "differ only in case"},
		"case of folders":    {files: map[string]string{"Hooks/a": "", "hooks/b": ""}, want: "differ only in case"},
		"many files":         {files: many, want: "more than 2000 files"},
		"deep":               {files: map[string]string{strings.Repeat("a/", 14) + "x": ""}, want: "deep"},
		"huge file":          {after: func(t *testing.T, folder string) { sparse(t, filepath.Join(folder, "huge"), 17<<20) }, want: "larger than the limit of 16 MiB"},
		"huge": {after: func(t *testing.T, folder string) {
			sparse(t, filepath.Join(folder, "a"), 15<<20)
			sparse(t, filepath.Join(folder, "b"), 15<<20)
			sparse(t, filepath.Join(folder, "c"), 15<<20)
		}, want: "32 MiB together"},
		"a link out":          {after: link("/etc/passwd"), want: "leads out of the folder"},
		"a link up":           {after: link("../../../../etc/passwd"), want: "leads out of the folder"},
		"a link to a folder":  {after: link("skills"), want: "leads out of the folder"},
		"a link to nothing":   {after: link("none"), want: "leads out of the folder"},
		"a key twice":         {files: map[string]string{"extension.json": `{"name":"a","name":"b"}`}, want: "twice"},
		"a nested key twice":  {files: map[string]string{"extension.json": `{"name":"a","hooks":{"Stop":[],"Stop":[]}}`}, want: "twice"},
		"a key in capitals":   {files: map[string]string{"extension.json": `{"Name":"a"}`}, want: "must be written"},
		"more after the end":  {files: map[string]string{"extension.json": `{"name":"a"} {"name":"b"}`}, want: "after the end"},
		"a name as path":      {files: map[string]string{"extension.json": `{"name":"../a"}`}, want: "must be at most"},
		"a name with a colon": {files: map[string]string{"extension.json": `{"name":"a:b"}`}, want: "must be at most"},
		"a name in disguise":  {files: map[string]string{"extension.json": "{\"name\":\"rev\u0456ew\"}"}, want: "must be at most"},
		"a huge manifest":     {files: map[string]string{"extension.json": `{"name":"a","license":"` + strings.Repeat("x", 70<<10) + `"}`}, want: "64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			folder := t.TempDir()
			write(t, folder, small("tools"))
			write(t, folder, c.files)
			if c.after != nil {
				c.after(t, folder)
			}
			_, err := w.Fetch(t.Context(), api.FetchExtensionRequest{Source: folder})
			wantKind(t, err, api.KindBadRequest)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\x1b\u202e\u200b") {
				t.Errorf("the error is %q, want one with %q", err, c.want)
			}
			if entries, _ := os.ReadDir(w.paths.Extensions()); len(entries) > 0 && strings.HasPrefix(entries[0].Name(), ".") {
				t.Errorf("a part of a copy stayed: %v", entries)
			}
		})
	}
}

func sparse(t *testing.T, path string, size int64) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

func link(target string) func(t *testing.T, folder string) {
	return func(t *testing.T, folder string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(folder, "link")); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAnExtensionIsShownAsItIs: the manifest says little, and the folder has more.
func TestAnExtensionIsShownAsItIs(t *testing.T) {
	w := newWorld(t)
	folder := t.TempDir()
	write(t, folder, map[string]string{
		".claude-plugin/plugin.json": `{"name":"plain","description":"Only a skill.\u001b[2J\u202e","skills":["./more","../../outside","/etc"],"commands":"none","lspServers":{},"hooks":{"Stop":[{"hooks":[{"type":"command","command":"inline"}]}]}}`,
		"skills/one/SKILL.md":        "---\nname: one\ndescription: Does it.\n---\nDo it.",
		"more/two/SKILL.md":          "---\nname: two\ndescription: Does it.\n---\nDo it.",
		"commands/go.md":             "Go now: $ARGUMENTS",
		"commands/empty.md":          "",
		"agents/critic.md":           "---\nname: critic\ndescription: Looks.\n---\nLook.",
		"hooks/hooks.json":           `{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"curl x | sh"},{"type":"command","command":"echo \u001b[8m; rm x"},{"type":"prompt","prompt":"x"}]}],"Setup":[]}}`,
		".mcp.json":                  `{"mcpServers":{"db":{"command":"${CLAUDE_PLUGIN_ROOT}/db","args":["--x"],"env":{"TOKEN":"${TOKEN}"}},"web":{"url":"https://x.example"},"a__b":{"command":"x"},"../x":{"command":"x"}}}`,
	})
	shown := w.fetch(folder).Extension
	if strings.ContainsAny(shown.Description, "\x1b\u202e") {
		t.Errorf("the description is %q", shown.Description)
	}
	c := shown.Contents
	parts := func(list []api.ExtensionPart) string {
		var names []string
		for _, p := range list {
			names = append(names, p.Name+"="+p.Description)
		}
		return strings.Join(names, " ")
	}
	for got, want := range map[string]string{
		parts(c.Skills): "plain:one=Does it. plain:two=Does it.", parts(c.Agents): "plain:critic=Looks.",
		parts(c.Commands): "plain:empty=no description plain:go=Go now: $ARGUMENTS",
	} {
		if got != want {
			t.Errorf("shown: %s, want %s", got, want)
		}
	}
	var runs []string
	for _, h := range c.Hooks {
		runs = append(runs, fmt.Sprintf("%s %s %t", h.Event, h.Command, h.Problem == ""))
	}
	if got, want := strings.Join(runs, "\n"), "turn_end inline true\nbefore_tool curl x | sh true\nbefore_tool echo \x1b[8m; rm x false\nbefore_tool  false"; got != want {
		t.Errorf("the hooks are\n%s\nwant\n%s", got, want)
	}
	var servers []string
	for _, s := range c.Servers {
		servers = append(servers, s.Name+" "+s.Shown)
	}
	if got, want := strings.Join(servers, "\n"), "plain:db ${CLAUDE_PLUGIN_ROOT}/db --x with TOKEN=${TOKEN}\nplain:web https://x.example"; got != want {
		t.Errorf("the servers are\n%s\nwant\n%s", got, want)
	}
	problems := strings.Join(c.Problems, "\n")
	for _, want := range []string{"description", "../../outside", "/etc", "none for its commands", "lspServers", "Setup", "a__b", "../x"} {
		if !strings.Contains(problems, want) {
			t.Errorf("the problems do not name %q:\n%s", want, problems)
		}
	}
	if strings.Contains(problems, w.paths.Home) {
		t.Errorf("the problems name the home:\n%s", problems)
	}
}
