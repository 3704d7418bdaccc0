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
	var messages []session.Message
	var given agent.ProjectContext
	var hasInstructions, hasSkills bool
	var modelErr error
	var agentName string
	err := u.do(ctx, func() {
		agentName = u.agentName()
		tree := u.log.Tree()
		now := tree.LeafContext()
		if now.Hole != nil {
			response.Hole = now.Hole.Error()
		}
		response.Session, response.LeafID, response.Entries = u.others.withSubagents(u.summary), tree.Leaf(), len(tree.Entries())
		response.Live = u.live.Clone()
		messages = read.Context(tree).Messages
		hasInstructions = read.LastCustom(tree, session.CustomInstructions, &given.Instructions)
		hasSkills = read.LastCustom(tree, session.CustomSkills, &given.Skills)
		read.LastCustom(tree, session.CustomEnvironment, &given.Environment)
		_, response.RuntimeContext.Model, modelErr = u.deps.Models.Model(u.summary.Model)
		response.RuntimeContext.Tokens = compact.Tokens(tree)
	})
	if err != nil {
		return response, clientError(err)
	}
	if modelErr != nil {
		return response, modelErr
	}
	child, err := u.childRecord(ctx)
	if err != nil {
		return response, clientError(err)
	}
	var persona Persona
	if agentName != "" && u.deps.Agent != nil {
		if persona, err = u.deps.Agent(u.project.Path, agentName); err != nil {
			return response, err
		}
	}
	given.MayDelegate = persona.MayDelegate
	prompt := child.Prompt
	if persona.Name != "" {
		child, prompt = persona.Limits, persona.Prompt
	}
	if u.deps.Environment != nil && !hasInstructions && !hasSkills {
		given.Environment = u.deps.Environment(ctx, u.project.Path)
	}
	if u.deps.ProjectContext != nil {
		fresh := u.deps.ProjectContext(u.project.Path)
		given.Off = fresh.Off
		if !hasInstructions {
			given.Instructions = fresh.Instructions
		}
		if !hasSkills {
			given.Skills = fresh.Skills
		}
		given = given.WithoutSkillsOff()
	}
	tools := u.judge.ruledTools(permitted(u.tools.Tools(), child), child)
	system := u.deps.System(tools, u.project.Path, given) + prompt
	u.describe(&response.RuntimeContext, response.Session, system, tools, messages)
	return response, nil
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
