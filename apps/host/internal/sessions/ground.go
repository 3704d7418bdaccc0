package sessions

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/session"
)

// equip gives a turn its tools and what the model is told of them. It runs in the
// goroutine of the turn: reading files and starting servers takes time that the
// session has not.
func (s *Session) equip(ctx context.Context, turn *agent.Turn) error {
	ground, err := s.ground(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if preparer, ok := s.tools.(agent.Preparer); ok {
		preparer.Prepare(ctx, turn.Cwd, ground)
	}
	child, err := s.childRecord(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	turn.Tools = s.ruledTools(permitted(s.tools.Tools(), child), child)
	turn.System = s.deps.System(turn.Tools, turn.Cwd, ground) + child.Prompt
	return nil
}

// ground returns what the session was told of its folder. What the log does not
// hold yet is read and put there first, so that a session that is resumed sees
// what it saw, whatever became of the files.
func (s *Session) ground(ctx context.Context) (ground agent.Ground, err error) {
	if s.deps.Ground == nil {
		return ground, nil
	}
	var hasInstructions, hasSkills bool
	if err := s.do(ctx, func() {
		hasInstructions = read.LastCustom(s.log.Tree(), session.CustomInstructions, &ground.Instructions)
		hasSkills = read.LastCustom(s.log.Tree(), session.CustomSkills, &ground.Skills)
	}); err != nil {
		return ground, refuse(err)
	}
	if hasInstructions && hasSkills {
		return ground, nil
	}
	fresh := s.deps.Ground(s.project.Path)
	doErr := s.do(ctx, func() {
		if !hasInstructions {
			ground.Instructions = fresh.Instructions
			err = s.keepCustom(session.CustomInstructions, filled(fresh.Instructions), "")
		}
		if !hasSkills {
			ground.Skills = fresh.Skills
			err = errors.Join(err, s.keepCustom(session.CustomSkills, filledSkills(fresh.Skills), ""))
		}
	})
	return ground, refuse(errors.Join(doErr, err))
}

// filled writes an empty list as one, not as null.
func filled(i session.Instructions) session.Instructions {
	i.Files = append([]session.InstructionFile{}, i.Files...)
	return i
}

func filledSkills(k session.Skills) session.Skills {
	k.Skills = append([]session.SkillInfo{}, k.Skills...)
	return k
}
