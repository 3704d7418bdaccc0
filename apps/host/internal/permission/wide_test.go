package permission_test

import (
	"testing"

	"github.com/scorel/scorel/apps/host/internal/permission"
)

func TestWide(t *testing.T) {
	tools := permission.Tools{"bash": "command", "write_file": "path", "fetch_url": "url", "memory_save": ""}
	for text, wide := range map[string]bool{
		"bash": true, "bash(*)": true, "bash(go test *)": false, "bash(touch one)": false, "bash(/usr/bin/env *)": true,
		"bash(python3 *)": true, "bash(g* status)": true, "bash(rm -f x)": true, "bash(sudo ls)": true, "bash(git *)": true,
		"bash(git config user.name)": true, "bash(git commit *)": false, "bash(npm *)": true, "bash(npm run *)": false, "bash(go r*)": true,
		"bash(go r* x)": true, "bash(go * x)": true, "bash(make)": false, "write_file": true, "write_file(src/**)": false, "write_file(*.md)": false,
		"write_file(/etc/**)": true, "write_file(~/notes/*)": true, "fetch_url": true, "fetch_url(domain:example.com)": false,
		"bash(git -c *)": true, "bash(git -c x=y status)": false, "bash(git -C *)": true, "bash(git push *)": true, "bash(git push origin main)": false,
		"bash(git fetch *)": true, "bash(git clone *)": true, "bash(git apply *)": true, "bash(git status *)": false, "bash(git add *)": false, "bash(git p*)": true,
		"bash(tar *)": true, "bash(tar -tf a.tar)": false, "bash(/bin/tar *)": true, "bash(make *)": true, "bash(make all)": false, "bash(make -f* x)": true,
		"bash(sqlite3 *)": true, "bash(sqlite3 a.db .tables)": false, "bash(find *)": true, "bash(awk *)": true, "bash(sed *)": true, "bash(ssh *)": true,
		"bash(rsync *)": true, "bash(docker compose up *)": true, "bash(kubectl get *)": true, "bash(cp *)": true, "bash(mv *)": true, "bash(ln *)": true,
		"bash(less *)": true, "bash(man *)": true, "bash(vim *)": true, "bash(pip install *)": true, "bash(gcc *)": true, "bash(xargs *)": true,
		"bash(curl *)": true, "bash(tee *)": true, "bash(go build *)": false, "bash(npm test)": false, "bash(ls *)": false, "bash(touch *)": false,
		"write_file(.git/**)": true, "write_file(.git/config)": true, "write_file(.GIT/hooks/*)": true, "write_file(**/.git/*)": true, "write_file({src,.git}/*)": true,
		"write_file(.gitignore)": false, "write_file(.github/**)": false, "write_file(a.git/x)": false, "write_file(**)": false,
		"mcp__mail__send": false, "mcp__mail__*": false, "memory_save": true,
	} {
		rule, err := permission.ParseRule(text, tools)
		if err != nil {
			t.Fatal(err)
		}
		if why := rule.Wide(); (why != "") != wide {
			t.Errorf("%s: %q, want wide %t", text, why, wide)
		}
	}
}
