package backend

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/session"
)

const (
	maxPlan  = 256 // entries of one plan
	maxPlans = 200 // that one turn writes
)

// planItem is an item of the task list, as the tool todo writes it.
type planItem struct {
	ID      string `json:"id"`
	Content string `json:"content"`
	Status  string `json:"status"`
}

// planTool is the tool whose calls clients show as the task list.
const planTool = "todo"

// writePlan writes the plan, if it has changed, as a call of the tool that keeps the task list.
func (t *transcript) writePlan(ctx context.Context) error {
	plan := t.plan
	if t.plan = nil; plan == nil || reflect.DeepEqual(plan, t.written) || t.plans >= maxPlans {
		return nil
	}
	t.plans++
	t.written = plan
	items := make([]planItem, 0, len(plan))
	lines := make([]string, 0, len(plan))
	for i, entry := range plan[:min(len(plan), maxPlan)] {
		status := map[string]string{"in_progress": "in_progress", "completed": "completed"}[entry.Status]
		if status == "" {
			status = "pending"
		}
		item := planItem{ID: fmt.Sprint(i + 1), Content: clip(strings.TrimSpace(entry.Content), 4000), Status: status}
		items = append(items, item)
		lines = append(lines, fmt.Sprintf("[%s] %s", item.Status, item.Content))
	}
	if len(t.content) > 0 {
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	return t.appendPlan(ctx, items, strings.Join(lines, "\n"))
}

func (t *transcript) appendPlan(ctx context.Context, items []planItem, text string) error {
	id, isError := callID(), false
	call := session.Block{Type: session.BlockToolCall, ID: id, Name: planTool, Arguments: asObject(map[string]any{"todos": items})}
	for _, message := range []session.Message{
		{
			Role: session.RoleAssistant, Content: session.Content{call}, API: apiName, Provider: t.backend, Model: t.model,
			Usage: &session.Usage{}, StopReason: session.StopToolUse,
		},
		{
			Role: session.RoleToolResult, ToolCallID: id, ToolName: planTool, Content: session.Content{session.Text(text)},
			Details: asObject(map[string]any{"todos": items}), IsError: &isError,
		},
	} {
		message.Timestamp = time.Now().UnixMilli()
		if err := t.turn.Journal.Append(context.WithoutCancel(ctx), message); err != nil {
			return fmt.Errorf("the last step of this turn was not saved: %w", err)
		}
	}
	return nil
}
