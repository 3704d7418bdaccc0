package tool

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

//go:embed executeskill.md
var executeSkillDoc string

// maxShownScript bounds how much of a script an approval shows, in bytes.
const maxShownScript = 16 << 10

type executeSkill struct{ *Set }

type executeSkillArgs struct {
	Name      string   `json:"name"`
	Script    string   `json:"script"`
	Arguments []string `json:"arguments,omitempty"`
	Timeout   int      `json:"timeout_seconds,omitempty"`
}

func (t executeSkill) Spec() agent.ToolSpec {
	return spec("execute_skill", executeSkillDoc, `{
		"name": {"type": "string", "description": "Name of the skill."`+t.skillNames()+`},
		"script": {"type": "string", "description": "The script, relative to the folder of the skill, for example scripts/convert.py."},
		"arguments": {"type": "array", "items": {"type": "string"}, "description": "Arguments of the script, passed unchanged."},
		"timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600, "description": "When to stop it. Without this it becomes a background job after 120 seconds."}}`,
		"name", "script")
}

func (executeSkill) Risk() agent.Risk { return agent.RiskWrite }

// Describe shows the command and the content of the script, because its name says little.
func (t executeSkill) Describe(call agent.Call) agent.Description {
	args, command, path, err := t.command(call)
	if err != nil {
		return agent.Description{Title: "Run a script of a skill (it will fail: " + err.Error() + ")", Detail: string(call.Arguments)}
	}
	detail := command
	if script, err := os.ReadFile(path); err == nil {
		text := strings.ToValidUTF8(string(script[:min(len(script), maxShownScript)]), "\uFFFD")
		if len(script) > maxShownScript {
			// The hash binds the answer to the whole script: another end is asked about again.
			text = withNewline(text) + fmt.Sprintf("[%d more bytes are not shown; SHA-256 of all: %x]", len(script)-maxShownScript, sha256.Sum256(script))
		}
		detail += "\n\n" + text
	}
	return agent.Description{Title: fmt.Sprintf("Run %s of the skill %s", args.Script, args.Name), Detail: detail, Command: command}
}

func (t executeSkill) Run(ctx context.Context, call agent.Call, progress func(string)) agent.Result {
	args, command, _, err := t.command(call)
	bash := newBash(t.Set)
	bash.skill, bash.title = args.Name, strings.Join(append([]string{args.Script}, args.Arguments...), " ")
	if err != nil {
		if bash.skill != "" {
			notStarted(bash.operation(ctx, call, command), err)
		}
		return agent.Failure("execute_skill: %v.", err)
	}
	call.Arguments = details(bashArgs{Command: command, Timeout: args.Timeout})
	return bash.Run(ctx, call, progress)
}

// command returns the command line of a call. The error is a sentence for the model.
func (t executeSkill) command(call agent.Call) (args executeSkillArgs, command, path string, err error) {
	if err = decodeArgs(call.Arguments, &args); err != nil {
		return args, "", "", err
	}
	_, folder, err := t.skillFolder(args.Name)
	if err != nil {
		return args, "", "", err
	}
	if path, err = t.skillFile(folder, args.Script); err != nil {
		return args, "", "", err
	}
	if slices.ContainsFunc(args.Arguments, func(a string) bool { return strings.ContainsRune(a, 0) }) {
		return args, "", "", fmt.Errorf("an argument contains a zero byte")
	}
	words, err := interpreter(path)
	if err != nil {
		return args, "", "", err
	}
	for _, word := range append(append(words, path), args.Arguments...) {
		command += " " + shellQuoted(word)
	}
	return args, strings.TrimPrefix(command, " "), path, nil
}

// interpreter returns the command that runs a script; it is empty if the script is
// executable.
func interpreter(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("the script cannot be used: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode()&0o111 != 0 {
		return nil, nil
	}
	known := map[string]string{".sh": "bash", ".bash": "bash", ".py": "python3", ".js": "node", ".mjs": "node", ".rb": "ruby", ".pl": "perl"}
	if program, ok := known[filepath.Ext(path)]; ok {
		return []string{program}, nil
	}
	return nil, fmt.Errorf("%s is not executable, and no interpreter is known for its extension", filepath.Base(path))
}

// shellQuoted quotes a text as one word of bash.
func shellQuoted(text string) string {
	plain := func(r rune) bool {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("_-./:=@%+,", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
