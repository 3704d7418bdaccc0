package host_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/hosttest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	keyOfProvider = "sk-provider-0123456789"
	keyOfAnother  = "sk-another-0123456789" // of a provider that is not configured
	keyPassedOn   = "sk-passed-0123456789"
)

// secretScene is a home with keys, a skill and notes of the user's own, in front of a
// provider whose key is in the host's environment. above puts the project above the home.
func secretScene(t *testing.T, above bool, steps func(home string) []modeltest.Step) *scene {
	t.Helper()
	s := newScene(t, nil)
	if above {
		s.folder = filepath.Dir(s.home)
	}
	s.server = modeltest.Serve(steps(s.home)...)
	t.Cleanup(s.server.Close)
	config := strings.Replace(fmt.Sprintf(sceneConfig, s.server.URL), "[models.m]", "api_key_env = \"SCENE_KEY\"\n[models.m]", 1)
	config += "[environment]\npass = [\"GROQ_API_KEY\"]\n[mcp.servers.nosy]\ncommand = \"bash\"\nargs = [\"-c\", \"env > seen-by-a-server\"]\n"
	for name, text := range map[string]string{
		"config.toml": config, "AGENTS.md": "Be brief.\n",
		"skills/greet/SKILL.md": "---\nname: greet\ndescription: Greets.\n---\nRun run.sh.\n", "skills/greet/run.sh": "echo skill ran as $1\n",
	} {
		path := filepath.Join(s.home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	helper, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCENE_KEY", keyOfProvider)
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"} {
		t.Setenv(name, keyOfAnother)
	}
	t.Setenv("GROQ_API_KEY", keyPassedOn)
	h, _ := hosttest.Run(t, host.Config{Home: s.home, Getenv: os.Getenv, NoRelay: true, Projects: []string{s.folder}, Helper: helper})
	s.enter(t, h)
	return s
}

// attempts are calls that would show keys, and some that show what is open.
func attempts(home string) []modeltest.Step {
	bash := func(command string) [2]string {
		args, _ := json.Marshal(map[string]any{"command": command})
		return [2]string{"bash", string(args)}
	}
	file := func(name, path string) [2]string { return [2]string{name, fmt.Sprintf(`{"path":%q}`, path)} }
	in := func(path string) string { return filepath.Join(home, path) }
	calls := [][2]string{
		bash("env; set; export -p"), bash("echo key=$SCENE_KEY"), bash("cat /proc/self/environ /proc/$$/environ /proc/$PPID/environ | tr '\\0' '\\n'"),
		bash("for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ; done 2>/dev/null | grep SCENE"),
		bash("x=" + filepath.Dir(home) + "; cat $x/*/identity.json $x/*/config.toml $x/*/run/host.json"), bash("grep -rs '' " + filepath.Dir(home)),
		bash("cat " + in("config.toml")), bash("find " + filepath.Dir(home) + " -type f | xargs cat"), bash("python3 -c 'print(open(\"" + in("identity.json") + "\").read())'"),
		bash("ln -s " + in("config.toml") + " l; cat l"), bash("d=" + in("ru") + "; cat ${d}n/host.json"),
		file("read_file", in("config.toml")), file("read_file", in("identity.json")), file("read_file", in("run/host.json")), file("read_file", in("skills/../config.toml")),
		file("read_file", "/proc/self/environ"), file("read_file", fmt.Sprintf("/proc/%d/environ", os.Getpid())), file("list_dir", home),
		{"grep", fmt.Sprintf(`{"pattern":"[a-z]","path":%q}`, home)}, {"grep", fmt.Sprintf(`{"pattern":"token|secret|api_key","path":%q}`, filepath.Dir(home))},
		{"grep", `{"pattern":"SCENE","path":"/proc/self/environ"}`}, {"glob", fmt.Sprintf(`{"pattern":"**/*","path":%q}`, home)},
		{"read_skill", `{"name":"greet","file":"../../config.toml"}`}, {"execute_skill", `{"name":"greet","script":"../../config.toml"}`},
		{"read_skill", `{"name":"greet"}`}, {"execute_skill", `{"name":"greet","script":"run.sh","arguments":["one"]}`}, bash("bash " + in("skills/greet/run.sh") + " two"),
		file("read_file", in("AGENTS.md")), bash("echo evil >> " + in("skills/greet/run.sh")), bash("f=" + in("skills/greet/run.sh") + "; echo evil >> $f"),
	}
	steps := make([]modeltest.Step, 0, len(calls)+1)
	for i, call := range calls {
		steps = append(steps, modeltest.Calls(modeltest.Call(fmt.Sprintf("c%d", i), call[0], call[1])))
	}
	return append(steps, modeltest.Say("done"))
}

// TestTheModelIsShownNoKey lets a model try to be shown keys, with every call allowed and in
// the mode bypass: in a folder beside scorel's home and in one above it.
func TestTheModelIsShownNoKey(t *testing.T) {
	for name, above := range map[string]bool{"beside": false, "above": true} {
		t.Run(name, func(t *testing.T) {
			s := secretScene(t, above, attempts)
			call(t, s.c, api.SetMode, api.SetModeRequest{SessionID: s.sessionID, Mode: api.ModeBypass})
			s.send(t, "k1", "go")
			if end := s.wait(1); end.StopReason != session.StopEnd {
				t.Fatalf("%+v", end)
			}
			bodies := s.server.Bodies()
			shown := string(bodies[len(bodies)-1])
			for what, secret := range map[string]string{
				"the provider's key": keyOfProvider, "the key of another provider": keyOfAnother, "the host's token": fieldOf(t, s.home, "run/host.json", "token"),
				"the host's private key": fieldOf(t, s.home, "identity.json", "secret"),
			} {
				if at := strings.Index(shown, secret); at >= 0 {
					t.Errorf("the model was shown %s: ...%s", what, shown[max(0, at-800):at])
				}
			}
			for _, want := range []string{"skill ran as one", "skill ran as two", "Run run.sh", "Be brief", keyPassedOn} {
				if !strings.Contains(shown, want) {
					t.Errorf("the model was not shown %q", want)
				}
			}
			seen, err := os.ReadFile(filepath.Join(s.folder, "seen-by-a-server"))
			if text := string(seen); err != nil || strings.Contains(text, keyOfProvider) || strings.Contains(text, keyOfAnother) || !strings.Contains(text, keyPassedOn) {
				t.Errorf("a server sees %s %v", text, err)
			}
			if text, err := os.ReadFile(filepath.Join(s.home, "skills/greet/run.sh")); err != nil || strings.Contains(string(text), "evil") {
				t.Errorf("the skill was changed: %s %v", text, err)
			}
		})
	}
}

// fieldOf is a text in a JSON file of the home.
func fieldOf(t *testing.T, home, path, field string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(home, path))
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatal(err)
	}
	text, _ := object[field].(string)
	if text == "" {
		t.Fatalf("%s has no %s: %s", path, field, data)
	}
	return text
}
