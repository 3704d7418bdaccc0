package tool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// project creates a folder with files; a name that ends in / is an empty folder.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(full, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// open creates the tools of a session that ends with the test.
func open(t *testing.T, options Options, scope Scope) *Set {
	t.Helper()
	set := NewCatalog(options).Open(scope)
	t.Cleanup(set.Close)
	return set
}

func (s *Set) find(t *testing.T, name string) agent.Tool {
	t.Helper()
	for _, tool := range s.Tools() {
		if tool.Spec().Name == name {
			return tool
		}
	}
	t.Fatalf("there is no tool %s", name)
	return nil
}

// call makes a call in the session.
func (s *Set) call(t *testing.T, cwd, name string, args any) agent.Result {
	t.Helper()
	return s.callWith(t, t.Context(), cwd, name, args)
}

func (s *Set) callWith(t *testing.T, ctx context.Context, cwd, name string, args any) agent.Result {
	t.Helper()
	raw, ok := args.(string)
	if !ok {
		data, err := json.Marshal(args)
		if err != nil {
			t.Fatal(err)
		}
		raw = string(data)
	}
	call := agent.Call{ID: "c", Name: name, Arguments: json.RawMessage(raw), Cwd: cwd}
	return s.find(t, name).Run(ctx, call, func(string) {})
}

// run calls a tool in cwd and returns its text.
func run(t *testing.T, cwd, name string, args any) (text string, isError bool) {
	t.Helper()
	return runWith(t, t.Context(), Options{}, cwd, name, args)
}

func runWith(t *testing.T, ctx context.Context, options Options, cwd, name string, args any) (string, bool) {
	t.Helper()
	result := open(t, options, Scope{}).callWith(t, ctx, cwd, name, args)
	return result.Content.Plain(), result.IsError
}

func TestAllSpecsAreAccepted(t *testing.T) {
	request := agent.Request{Messages: []session.Message{{Role: session.RoleUser, Content: session.Content{session.Text("x")}}}}
	var names []string
	for _, tool := range open(t, Options{Memory: memory.New(t.TempDir(), nil)}, Scope{}).Tools() {
		spec := tool.Spec()
		request.Tools = append(request.Tools, spec)
		names = append(names, spec.Name)
		if len(spec.Description) < 80 {
			t.Errorf("%s: the description is too short to help: %q", spec.Name, spec.Description)
		}
		var schema struct {
			Properties           map[string]struct{ Type, Description string }
			AdditionalProperties *bool
		}
		if err := json.Unmarshal(spec.Parameters, &schema); err != nil {
			t.Errorf("%s: %v", spec.Name, err)
		}
		if schema.AdditionalProperties == nil || *schema.AdditionalProperties {
			t.Errorf("%s takes additional properties", spec.Name)
		}
		for name, property := range schema.Properties {
			if property.Type == "" || property.Description == "" {
				t.Errorf("%s: %s is not described", spec.Name, name)
			}
		}
	}
	if err := modeltest.Check(request); err != nil {
		t.Error(err)
	}
	if got := strings.Join(names, " "); got != "bash bash_job fetch_url glob grep list_dir patch read_file write_file todo clarify memory_recall memory_save" {
		t.Errorf("tools: %s", got)
	}
}

// TestArguments: every tool refuses invalid arguments with a sentence that names them.
func TestArguments(t *testing.T) {
	dir := project(t, map[string]string{"a": "x"})
	tests := []struct{ tool, args, want string }{
		{"read_file", `{"path":"a","lines":3}`, `unknown argument "lines"; the arguments are: path, offset, limit`},
		{"read_file", `{"PATH":"a"}`, `unknown argument "PATH"`},
		{"read_file", `{}`, `the argument "path" is missing`},
		{"read_file", `{"path":null}`, `the argument "path" is missing`},
		{"read_file", `{"path":7}`, `the argument "path" must be a string, not a number`},
		{"read_file", `{"path":"a","offset":"3"}`, `the argument "offset" must be a whole number, not a string`},
		{"read_file", `{"path":"a","offset":1.5}`, `the argument "offset" must be a whole number`},
		{"read_file", `{"path":"a","offset":-1}`, `must be 1 or more`},
		{"read_file", `{"path":""}`, `the path is empty`},
		{"read_file", `{"path":"a\u0000b"}`, `zero byte`},
		{"read_file", `["a"]`, `not a JSON object`},
		{"list_dir", `{"dir":"a"}`, `unknown argument "dir"`},
		{"write_file", `{"path":"b"}`, `the argument "content" is missing`},
		{"glob", `{"pattern":"../*"}`, `must be relative and without ..`},
		{"glob", `{"pattern":"/etc/*"}`, `must be relative`},
		{"glob", `{"pattern":"[a"}`, `the pattern is invalid`},
		{"glob", `{"pattern":""}`, `the pattern is empty`},
		{"grep", `{"pattern":"("}`, `not a valid RE2 regular expression`},
		{"grep", `{"pattern":"x","context":11}`, `context must be 0 to 10`},
		{"grep", `{"pattern":"x","glob":"{a"}`, `the pattern is invalid`},
		{"patch", `{}`, `give path, old_string and new_string, or patch`},
		{"patch", `{"path":"a","patch":"x"}`, `give either patch, or path`},
		{"patch", `{"path":"a","new_string":"x"}`, `the argument "old_string" is missing`},
		{"patch", `{"path":"a","old_string":"x"}`, `the argument "new_string" is missing`},
		{"patch", `{"path":"nowhere","old_string":"x","new_string":"y"}`, `does not exist`},
		{"bash_job", `{"action":"look"}`, `action must be list, poll, wait or kill`},
		{"bash_job", `{"action":"poll","job":"job7"}`, `there is no job "job7"`},
		{"bash", `{"command":"ls","background":true,"timeout_seconds":3}`, `a background job has no timeout`},
		{"todo", `{"todos":[{"id":"a","content":"x","status":"soon"}]}`, `the status must be one of pending`},
		{"todo", `{"todos":7}`, `must be a list of`},
		{"bash", `{"command":" "}`, `the command is empty`},
		{"bash", `{"command":"ls","timeout_seconds":601}`, `must be 1 to 600`},
	}
	for _, test := range tests {
		text, isError := run(t, dir, test.tool, test.args)
		if !isError || !strings.Contains(text, test.want) {
			t.Errorf("%s %s: %q, want %q", test.tool, test.args, text, test.want)
		}
	}
}

func FuzzDecodeArgs(f *testing.F) {
	f.Add(`{"path":"a","offset":1}`)
	f.Add(`{"path":"a"} {}`)
	f.Add(`{"path":"a","path":"b","limit":null}`)
	f.Fuzz(func(t *testing.T, raw string) {
		var args readFileArgs
		if err := decodeArgs(json.RawMessage(raw), &args); err != nil {
			return
		}
		var given map[string]any
		if err := json.Unmarshal([]byte(raw), &given); err != nil {
			t.Fatalf("%q was taken: %v", raw, err)
		}
		for key := range given {
			if key != "path" && key != "offset" && key != "limit" {
				t.Errorf("%q was taken with %q", raw, key)
			}
		}
	})
}
