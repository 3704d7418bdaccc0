package gate_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/gate"
)

func TestWide(t *testing.T) {
	tools := gate.Tools{"bash": "command", "write_file": "path", "fetch_url": "url", "memory_save": ""}
	for text, wide := range map[string]bool{
		"bash": true, "bash(*)": true, "bash(go test *)": false, "bash(touch one)": false, "bash(/usr/bin/env *)": true,
		"bash(python3 *)": true, "bash(g* status)": true, "bash(rm -f x)": true, "bash(sudo ls)": true, "bash(git *)": true,
		"bash(git config user.name)": true, "bash(git commit *)": false, "bash(npm *)": true, "bash(npm run *)": false, "bash(go r*)": true,
		"bash(go r* x)": true, "bash(go * x)": true, "bash(make)": false, "write_file": true, "write_file(src/**)": false, "write_file(*.md)": false,
		"write_file(/etc/**)": true, "write_file(~/notes/*)": true, "fetch_url": true, "fetch_url(domain:example.com)": false,
		"mcp__mail__send": false, "mcp__mail__*": false, "memory_save": true,
	} {
		rule, err := gate.ParseRule(text, tools)
		if err != nil {
			t.Fatal(err)
		}
		if why := rule.Wide(); (why != "") != wide {
			t.Errorf("%s: %q, want wide %t", text, why, wide)
		}
	}
}
