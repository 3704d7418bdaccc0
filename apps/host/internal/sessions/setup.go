package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// setup gives a turn its tools, and what the model learns about these and the project. Its
// methods run in the goroutine of the turn, or of a request: reading files and starting
// servers would hold up the goroutine of the session.
type setup struct {
	*core
	turns *turns
	judge *judge
	tools agent.Toolset
}

// equip gives a turn its tools and its system prompt.
func (u *setup) equip(ctx context.Context, turn *agent.Turn) error {
	given, err := u.projectContext(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	persona, err := u.persona(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	given.MayDelegate = persona.MayDelegate
	if err := u.announceAdded(ctx, turn, &given); err != nil {
		return err
	}
	given = given.WithoutSkillsOff()
	u.tools.Prepare(ctx, turn.Cwd, given)
	child, err := u.childRecord(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	prompt, most := child.Prompt, persona.MaxTurns
	if persona.Name != "" {
		child, prompt = persona.Limits, persona.Prompt
	} else if u.taskRuns(ctx) {
		most = child.MaxTurns
	}
	turnsOf(turn, most)
	turn.Tools = u.judge.ruledTools(permitted(u.tools.Tools(), child), child)
	turn.System = u.deps.System(turn.Tools, turn.Cwd, given) + prompt + u.outsideRule(ctx)
	return nil
}

// taskRuns reports whether the running turn is the task that a subagent was created for.
func (u *setup) taskRuns(ctx context.Context) (is bool) {
	_ = u.do(context.WithoutCancel(ctx), func() { is = u.turns.taskRuns() }) // a session that ends runs nothing
	return is
}

// projectContext returns the instructions, skills and environment that the session began with.
// Those that the log does not hold yet are read from the folder and stored first, so that a
// session that is resumed sees what it saw, whatever became of the files.
func (u *setup) projectContext(ctx context.Context) (given agent.ProjectContext, err error) {
	if u.deps.ProjectContext == nil {
		return given, nil
	}
	var hasInstructions, hasSkills bool
	if err := u.do(ctx, func() {
		hasInstructions = read.LastCustom(u.log.Tree(), session.CustomInstructions, &given.Instructions)
		hasSkills = read.LastCustom(u.log.Tree(), session.CustomSkills, &given.Skills)
		read.LastCustom(u.log.Tree(), session.CustomEnvironment, &given.Environment)
		read.LastCustom(u.log.Tree(), session.CustomMemory, &given.Memory)
	}); err != nil {
		return given, clientError(err)
	}
	if hasInstructions && hasSkills {
		return given, nil
	}
	fresh := u.deps.ProjectContext(u.project.Path)
	begins := !hasInstructions && !hasSkills && u.deps.Environment != nil
	if begins {
		given.Environment = u.deps.Environment(ctx, u.project.Path)
		given.Memory = u.memory()
	}
	doErr := u.do(ctx, func() {
		if begins {
			err = u.appendCustom(session.CustomEnvironment, given.Environment, "")
			if len(given.Memory.Notes) > 0 || given.Memory.Journal != "" {
				err = errors.Join(err, u.appendCustom(session.CustomMemory, given.Memory, ""))
			}
		}
		if !hasInstructions {
			given.Instructions = fresh.Instructions
			err = errors.Join(err, u.appendCustom(session.CustomInstructions, filled(fresh.Instructions), ""))
		}
		if !hasSkills {
			given.Skills = fresh.Skills
			err = errors.Join(err, u.appendCustom(session.CustomSkills, filledSkills(fresh.Skills), ""))
		}
	})
	return given, clientError(errors.Join(doErr, err))
}

// memory returns the notes that the session begins with. Subagents get what their task says.
func (u *setup) memory() session.Memory {
	if u.deps.Memory == nil || u.parent != "" {
		return session.Memory{}
	}
	return u.deps.Memory(u.project.Path)
}

// announceAdded tells the model of skills and instruction files that were added, or trusted,
// after the session began. Each is a note in the log, after the prompt, so that what the model
// was given before stays as it was. What a compaction left out is written again.
func (u *setup) announceAdded(ctx context.Context, turn *agent.Turn, given *agent.ProjectContext) error {
	if u.deps.ProjectContext == nil {
		return nil
	}
	var shown []string
	if err := u.do(context.WithoutCancel(ctx), func() { now := read.Context(u.log.Tree()); shown = append(now.Shown, now.Skills...) }); err != nil {
		return clientError(err)
	}
	fresh := u.deps.ProjectContext(u.project.Path)
	given.Skills = withExtensions(given.Skills, fresh.Skills)
	given.Later, given.Off = laterSkills(fresh.Skills, given.Skills), fresh.Off
	if turn.Resume || turn.Tell == nil { // calls of the last answer wait for their results
		return nil
	}
	for _, note := range addedNotes(fresh, *given, shown) {
		message, err := turn.Tell(context.WithoutCancel(ctx), note)
		if err != nil {
			return err
		}
		turn.Messages = append(turn.Messages, message)
	}
	return nil
}

// withExtensions returns the skills that a session began with, those of extensions as they are
// now: an extension that was disabled or removed is not used, and one that was updated has
// other files.
func withExtensions(began, fresh session.Skills) session.Skills {
	list := make([]session.SkillInfo, 0, len(began.Skills))
	for _, info := range began.Skills {
		if info.Scope != session.ScopeExtension {
			list = append(list, info)
			continue
		}
		for _, now := range fresh.Skills {
			if now.Name == info.Name && now.Scope == session.ScopeExtension {
				list = append(list, now)
			}
		}
	}
	began.Skills = list
	return began
}

// laterSkills are the skills of fresh with names that the session did not begin with.
func laterSkills(fresh, began session.Skills) []session.SkillInfo {
	return slices.DeleteFunc(slices.Clone(fresh.Skills), func(info session.SkillInfo) bool {
		return slices.ContainsFunc(began.Skills, func(have session.SkillInfo) bool { return have.Name == info.Name })
	})
}

// addedNotes describes what is in fresh and in nothing that the model was given.
func addedNotes(fresh, began agent.ProjectContext, shown []string) []session.Note {
	var notes []session.Note
	for _, file := range fresh.Instructions.Files {
		known := func(have session.InstructionFile) bool { return have.Path == file.Path }
		if slices.ContainsFunc(began.Instructions.Files, known) || slices.Contains(shown, file.Path) {
			continue
		}
		notes = append(notes, session.Note{Kind: session.NoteInstructions, Paths: []string{file.Path}, Text: fmt.Sprintf(
			"These instructions were added after the session began. Follow them like those from the beginning.\n<instructions path=%q>\n%s\n</instructions>",
			file.Path, file.Content)})
	}
	var lines, paths []string
	for _, info := range began.Later {
		if !info.Manual && !slices.Contains(shown, info.Path) {
			lines = append(lines, fmt.Sprintf("- %s: %s (%s)", info.Name, info.Description, info.Path))
			paths = append(paths, info.Path)
		}
	}
	if len(lines) > 0 {
		notes = append(notes, session.Note{Kind: session.NoteSkills, Paths: paths, Text: "These skills were added after the session began. " +
			"When a task fits one of them, read its file with read_file before you begin:\n" + strings.Join(lines, "\n")})
	}
	return notes
}

// filled makes JSON of no files an empty list instead of null.
func filled(i session.Instructions) session.Instructions {
	i.Files = append([]session.InstructionFile{}, i.Files...)
	return i
}

func filledSkills(k session.Skills) session.Skills {
	k.Skills = append([]session.SkillInfo{}, k.Skills...)
	return k
}
