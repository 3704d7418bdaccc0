package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/sessions/compact"
	"github.com/scorel/scorel/apps/host/internal/sessions/read"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Snapshot describes the session as it is now, with what its model would be given. It
// changes nothing: a session that had no turn yet has the tools that need no server.
func (u *setup) Snapshot(ctx context.Context) (api.GetSnapshotResponse, error) {
	var response api.GetSnapshotResponse
	given, messages, err := u.current(ctx, &response)
	if err != nil {
		return response, err
	}
	tools, prompt, err := u.previewAgent(ctx, &given)
	if err != nil {
		return response, err
	}
	system := u.deps.System(tools, u.project.Path, u.completed(ctx, given)) + prompt + u.outsideRule(ctx)
	u.describe(&response.RuntimeContext, response.Session, system, tools, messages)
	return response, nil
}

// recorded is the project context that the log has, and which parts of it.
type recorded struct {
	agent.ProjectContext
	instructions, skills bool
	agentName            string
}

// current fills in the state of the session, and returns what its log gives the model.
func (u *setup) current(ctx context.Context, response *api.GetSnapshotResponse) (given recorded, messages []session.Message, err error) {
	var modelErr error
	err = u.do(ctx, func() {
		given.agentName = u.agentName()
		tree := u.log.Tree()
		now := tree.LeafContext()
		if now.Hole != nil {
			response.Hole = now.Hole.Error()
		}
		response.Session, response.LeafID, response.Entries = u.others.withSubagents(u.summary), tree.Leaf(), len(tree.Entries())
		response.Live = u.live.Clone()
		messages = read.Context(tree).Messages
		given.instructions = read.LastCustom(tree, session.CustomInstructions, &given.Instructions)
		given.skills = read.LastCustom(tree, session.CustomSkills, &given.Skills)
		read.LastCustom(tree, session.CustomEnvironment, &given.Environment)
		read.LastCustom(tree, session.CustomMemory, &given.Memory)
		_, response.RuntimeContext.Model, modelErr = u.deps.Models.Model(u.summary.Model)
		response.RuntimeContext.Tokens = compact.Tokens(tree)
	})
	if err != nil {
		return given, nil, clientError(err)
	}
	return given, messages, modelErr
}

// previewAgent returns the tools of the session's agent and the end of its system prompt, and notes
// whether it may delegate.
func (u *setup) previewAgent(ctx context.Context, given *recorded) (tools []agent.Tool, prompt string, err error) {
	child, err := u.childRecord(ctx)
	if err != nil {
		return nil, "", clientError(err)
	}
	var persona Persona
	if given.agentName != "" && u.deps.Agent != nil {
		if persona, err = u.deps.Agent(u.project.Path, given.agentName); err != nil {
			return nil, "", err
		}
	}
	given.MayDelegate = persona.MayDelegate
	prompt = child.Prompt
	if persona.Name != "" {
		child, prompt = persona.Limits, persona.Prompt
	}
	return u.judge.ruledTools(permitted(u.tools.Tools(), child), child), prompt, nil
}

// completed adds what the next turn would record to what the log has.
func (u *setup) completed(ctx context.Context, given recorded) agent.ProjectContext {
	if u.deps.Environment != nil && !given.instructions && !given.skills {
		given.Environment, given.Memory = u.deps.Environment(ctx, u.project.Path), u.memory()
	}
	if u.deps.ProjectContext == nil {
		return given.ProjectContext
	}
	fresh := u.deps.ProjectContext(u.project.Path)
	given.Off = fresh.Off
	if !given.instructions {
		given.Instructions = fresh.Instructions
	}
	if !given.skills {
		given.Skills = fresh.Skills
	}
	given.Skills = withExtensions(given.Skills, fresh.Skills)
	return given.WithoutSkillsOff()
}

// describe fills in what the model would be given.
func (u *setup) describe(now *api.RuntimeContext, summary api.SessionSummary, system string, tools []agent.Tool, messages []session.Message) {
	now.Thinking, now.Cwd, now.ContextWindow = summary.Thinking, u.project.Path, now.Model.ContextWindow
	now.CompactAt = int(u.deps.Summaries.Share * float64(now.ContextWindow))
	now.System, now.Tools = agent.PreviewSystem(system), agent.PreviewTools(tools)
	now.Messages = agent.PreviewMessages(messages, now.Model.Images)
	sum := 0
	for _, part := range now.System {
		sum += part.Tokens
	}
	for _, tool := range now.Tools {
		sum += tool.Tokens
	}
	for _, message := range now.Messages {
		sum += message.Tokens
	}
	now.Tokens = max(now.Tokens, sum) // a provider that counted has counted all of it
	now.Messages, now.Omitted = newestOf(now.Messages)
}

// newestOf returns the last messages that fit one answer, and how many do not.
func newestOf(messages []api.ContextMessage) (kept []api.ContextMessage, omitted int) {
	size, first := 0, len(messages)
	for first > 0 {
		encoded, err := session.Encode(messages[first-1])
		if err != nil { // what was decoded encodes
			break
		}
		if size += len(encoded); size > api.WindowBytes && first < len(messages) {
			break
		}
		first--
	}
	return messages[first:], first
}
