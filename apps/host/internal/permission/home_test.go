package permission

import (
	"testing"

	"github.com/scorel/scorel/packages/protocol/api"
)

// TestTheUsersOwnSkillsRun: the user's files in scorel's home can be read and run, but not
// changed.
func TestTheUsersOwnSkillsRun(t *testing.T) {
	const skill = "/home/ann/.scorel/skills/greet"
	bypass := testPolicy(t, api.ModeBypass)
	for _, command := range []string{
		"bash " + skill + "/scripts/hello.sh x", "~/.scorel/skills/greet/run", "python3 ~/.scorel/skills/greet/a.py --out=made", "cat ~/.scorel/memory/user.md",
		"cd ~/.scorel/skills/greet && ./run", "cp ~/.scorel/skills/greet/template.txt .", "cp -r ~/.scorel/skills/greet copy", "head < ~/.scorel/AGENTS.md", "ls ~/.scorel/skills",
	} {
		if v := judge(bypass, command); v.Action != Allow {
			t.Errorf("%q: %+v", command, v)
		}
		if v := bypass.Judge(Request{Tool: "execute_skill", Writes: true, Command: command}); v.Action != Allow {
			t.Errorf("execute_skill %q: %+v", command, v)
		}
		if v := judge(testPolicy(t, api.ModeAsk), command); v.Action != Ask {
			t.Errorf("ask: %q: %+v", command, v)
		}
	}
	for _, command := range []string{
		"rm -r " + skill, "rm ~/.scorel/skills/greet/SKILL.md", "echo x > ~/.scorel/skills/greet/SKILL.md", "echo x >> ~/.scorel/AGENTS.md", "cp evil ~/.scorel/skills/greet/SKILL.md",
		"cp -t ~/.scorel/skills/greet evil", "mv ~/.scorel/skills/greet .", "sed -i s/a/b/ ~/.scorel/memory/user.md", "tee ~/.scorel/memory/user.md", "touch ~/.scorel/skills/x",
		"mkdir ~/.scorel/skills/x", "ln -s x ~/.scorel/skills/x", "find ~/.scorel/skills -delete", "cd ~/.scorel/skills && rm -r greet", "chmod +x ~/.scorel/skills/greet/run",
		"cat ~/.scorel/skills/../identity.json", "cd ~/.scorel/skills && cat ../config.toml", "bash -c 'rm ~/.scorel/skills/x'", "env touch ~/.scorel/skills/x",
		"git -C ~/.scorel/skills init", "ls ~/.scorel", "python3 ~/.scorel/x.py", "cat ~/.scorel/skills2",
	} {
		if v := judge(bypass, command); !v.Floor {
			t.Errorf("%q: %+v", command, v)
		}
	}
	for _, path := range []string{skill + "/SKILL.md", "/home/ann/.scorel/memory/user.md", "/home/ann/.scorel/AGENTS.md"} {
		if v := bypass.Judge(Request{Tool: "write_file", Subject: subjectPath, Writes: true, Paths: []string{path}}); !v.Floor {
			t.Errorf("write_file %s: %+v", path, v)
		}
	}
}

// TestWhatGoesThroughTheHomeAsks: a command that names no key can still read it. The mode
// auto allows it only if a sandbox hides the keys.
func TestWhatGoesThroughTheHomeAsks(t *testing.T) {
	for _, command := range []string{
		"grep -r sk- /home/ann", "grep -r sk- ~", "find / -name identity.json", "cat ~/.s*/identity.json", "cat /home/*/.scorel/config.toml",
		"cd ~ && grep -r sk- .", "cd ~ && rg sk-", "tar cf out.tar /home", "cat ~/.score?/config.toml", "cat ~/.[s]corel/config.toml",
	} {
		if v := judge(testPolicy(t, api.ModeAuto), command); v.Action != Ask {
			t.Errorf("%q: %+v", command, v)
		}
	}
	hidden := testPolicy(t, api.ModeAuto)
	hidden.PrivateHidden = true
	for _, command := range []string{"grep -r x /home/ann", "ls ~/*.txt", "cd ~ && rg x"} {
		if v := judge(hidden, command); v.Action != Allow {
			t.Errorf("hidden: %q: %+v", command, v)
		}
	}
	for _, command := range []string{"grep -r x .", "ls *", "cat /etc/hostname", "go test ./..."} {
		if v := judge(testPolicy(t, api.ModeAuto), command); v.Action != Allow {
			t.Errorf("%q: %+v", command, v)
		}
	}
	inside := testPolicy(t, api.ModeAuto)
	inside.Dir = "/home/ann" // a project that contains scorel's home
	for _, command := range []string{"python3 x.py", "rg sk-", "ls"} {
		if v := judge(inside, command); v.Action != Ask {
			t.Errorf("in the home: %q: %+v", command, v)
		}
	}
}

// TestTheEnvironmentOfAProcessIsASecret: the host's environment holds the providers' keys.
func TestTheEnvironmentOfAProcessIsASecret(t *testing.T) {
	for _, command := range []string{
		"cat /proc/self/environ", "cat /proc/1/environ", "cat /proc/*/environ", "cat /proc/$PPID/environ", "strings /proc/[0-9]*/environ", "cat < /proc/1/environ",
		"xxd /proc/1/task/1/environ", "cat /proc/1/fd/7", "cat /proc/1/root/etc/shadow",
	} {
		for _, mode := range []api.Mode{api.ModeAsk, api.ModeAcceptEdits, api.ModeAuto} {
			if v := judge(testPolicy(t, mode), command); v.Action != Ask {
				t.Errorf("%s: %q: %+v", mode, command, v)
			}
		}
	}
}

// TestRootWithoutAStrongSandboxAsks: as root without a strong sandbox, the mode auto runs
// only commands that read or that a rule allows.
func TestRootWithoutAStrongSandboxAsks(t *testing.T) {
	p := testPolicy(t, api.ModeAuto, "bash(go test *)")
	for _, unconfined := range []bool{false, true} {
		p.UnconfinedRoot = unconfined
		for command, asks := range map[string]bool{"ls": false, "go test ./...": false, "make": unconfined, "ls; touch x": unconfined} {
			if v := judge(p, command); (v.Action == Ask) != asks {
				t.Errorf("unconfined %v: %q: %+v", unconfined, command, v)
			}
		}
	}
}
