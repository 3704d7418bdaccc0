package tool

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/skill"
	"github.com/scorel/scorel/packages/protocol/session"
)

//go:embed readskill.md
var readSkillDoc string

// Bounds of what read_skill shows.
const (
	maxSkillFiles = 100      // file names listed
	maxSkillFile  = 10 << 20 // bytes of a file
)

// UseSkills sets the skills of the session. It must be called before Tools, and not during
// a call. Without skills the session has no skill tools.
func (s *Set) UseSkills(skills session.Skills) {
	s.skills = slices.DeleteFunc(slices.Clone(skills.Skills), func(info session.SkillInfo) bool { return info.Manual })
	s.manual = slices.DeleteFunc(slices.Clone(skills.Skills), func(info session.SkillInfo) bool { return !info.Manual })
}

// UseLaterSkills lets people invoke skills that were added after the session began. A note
// tells the model about them; the tool description does not change.
func (s *Set) UseLaterSkills(skills []session.SkillInfo) { s.later = skills }

// skillNames returns the allowed values of the argument, or nothing if the session has no
// skills.
func (s *Set) skillNames() string {
	if len(s.skills) == 0 {
		return ""
	}
	names := make([]string, 0, len(s.skills))
	for _, info := range s.skills {
		names = append(names, info.Name)
	}
	return `, "enum": ` + string(details(names))
}

// skillFolder finds a skill by name. The error is a sentence for the model.
func (s *Set) skillFolder(name string) (session.SkillInfo, string, error) {
	i := slices.IndexFunc(s.skills, func(info session.SkillInfo) bool { return info.Name == name })
	if i < 0 {
		names := make([]string, 0, len(s.skills))
		for _, info := range s.skills {
			names = append(names, info.Name)
		}
		return session.SkillInfo{}, "", fmt.Errorf("there is no skill %.80q; the skills are: %s", name, strings.Join(names, ", "))
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(s.skills[i].Path))
	if err != nil {
		return session.SkillInfo{}, "", fmt.Errorf("the folder of the skill %s no longer exists (%s)", name, filepath.Dir(s.skills[i].Path))
	}
	return s.skills[i], folder, nil
}

// skillFile finds a file inside a skill's folder. The path of a skill comes from the
// session log, so folders closed to tools are refused here too.
func (s *Set) skillFile(folder, file string) (string, error) {
	relative := file
	if filepath.IsAbs(file) {
		var err error
		if relative, err = filepath.Rel(folder, filepath.Clean(file)); err != nil {
			relative = ".."
		}
	}
	full := filepath.Join(folder, relative)
	info, err := os.Stat(full)
	switch {
	case strings.ContainsRune(file, 0) || !filepath.IsLocal(relative) || err == nil && !within(folder, resolved(full)):
		return "", fmt.Errorf("%s is not in the folder of the skill", file)
	case s.private.hides(full):
		return "", fmt.Errorf("%s is closed to tools", file)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("the skill has no file %s; read_skill lists its files", file)
	case err != nil:
		return "", fmt.Errorf("%s cannot be used: %w", file, err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a file", file)
	}
	return full, nil
}

type readSkill struct{ *Set }

type readSkillArgs struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
}

func (t readSkill) Spec() agent.ToolSpec {
	return spec("read_skill", readSkillDoc, `{
		"name": {"type": "string", "description": "Name of the skill."`+t.skillNames()+`},
		"file": {"type": "string", "description": "Show this file of the skill instead, for example references/forms.md."}}`, "name")
}

func (readSkill) Risk() agent.Risk { return agent.RiskRead }

func (readSkill) Describe(call agent.Call) agent.Description {
	return agent.Description{Title: "Read a skill", Detail: string(call.Arguments)}
}

// skillDetails holds information for people and programs besides the text.
type skillDetails struct {
	Skill string `json:"skill"`
	Scope string `json:"scope"`
	Path  string `json:"path"`
}

func (t readSkill) Run(_ context.Context, call agent.Call, _ func(string)) agent.Result {
	var args readSkillArgs
	if err := decodeArgs(call.Arguments, &args); err != nil {
		return agent.Failure("read_skill: %v.", err)
	}
	info, folder, err := t.skillFolder(args.Name)
	if err != nil {
		return agent.Failure("read_skill: %v.", err)
	}
	var text string
	if args.File != "" {
		text, err = t.file(folder, args.File)
	} else {
		text, err = t.body(info, folder)
	}
	if err != nil {
		return agent.Failure("read_skill: %v.", err)
	}
	result := agent.Success(text)
	result.Details = details(skillDetails{info.Name, info.Scope, cmp.Or(args.File, info.Path)})
	return result
}

func (t readSkill) body(info session.SkillInfo, folder string) (string, error) {
	document, err := skill.Read(filepath.Join(folder, skill.FileName))
	if err != nil {
		return "", fmt.Errorf("the skill %s can no longer be used: %w", info.Name, err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<skill_content name=%q>\n%s\n</skill_content>\n\nThe folder of the skill is %s; paths in its text are relative to it.\n", info.Name, document.Body, folder)
	if files := skillFiles(folder); len(files) > 0 {
		b.WriteString("Its files:\n- " + strings.Join(files, "\n- ") + "\n")
	}
	return t.firstRows("read_skill", strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n"), MaxLines, "lines", "the file is too long to be shown completely"), nil
}

func (t readSkill) file(folder, name string) (string, error) {
	path, err := t.skillFile(folder, name)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(path); err == nil && info.Size() > maxSkillFile {
		return "", fmt.Errorf("%s has %d bytes, the limit is %d", name, info.Size(), maxSkillFile)
	}
	data, err := os.ReadFile(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s cannot be read: %w", name, err)
	case strings.ContainsRune(string(data), 0):
		return "", fmt.Errorf("%s is not text; it is in %s", name, folder)
	}
	return t.firstRows("read_skill", strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), MaxLines, "lines", "use commands to look at the rest of "+path), nil
}

// skillFiles lists the files of a skill besides its SKILL.md.
func skillFiles(folder string) []string {
	var files []string
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // unreadable entries are not listed
		}
		name := entry.Name()
		switch {
		case entry.IsDir() && (name == ".git" || name == "node_modules" || name == "__pycache__"):
			return fs.SkipDir
		case len(files) >= maxSkillFiles:
			files = append(files, "and more")
			return fs.SkipAll
		case entry.Type().IsRegular() && path != filepath.Join(folder, skill.FileName):
			relative, _ := filepath.Rel(folder, path) // cannot fail: it is below folder
			files = append(files, relative)
		}
		return nil
	})
	return files
}
