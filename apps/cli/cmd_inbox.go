package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// inboxItem is a request to a person. Exactly one of Approval and Question is set.
type inboxItem struct {
	DeviceID  ident.ID      `json:"deviceId"`
	Machine   string        `json:"machine"`
	SessionID string        `json:"sessionId"`
	Session   string        `json:"session"` // its name
	RequestID string        `json:"requestId"`
	CreatedAt int64         `json:"createdAt"` // Unix milliseconds
	Approval  *api.Approval `json:"approval,omitempty"`
	Question  *api.Question `json:"question,omitempty"`
}

// what describes the request on one line.
func (i inboxItem) what() string {
	if i.Approval != nil {
		return i.Approval.ToolName + ": " + visible.Text(i.Approval.Title)
	}
	if i.Question.Server != "" {
		return "question of the MCP server " + i.Question.Server + ": " + i.Question.Question
	}
	return "question: " + i.Question.Question
}

func newInbox(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "List what needs you, on all machines",
		Long: `List the approvals and questions that wait for a person, the oldest first: of the host on this
machine and of every paired machine. "scorel session answer" answers one. A machine that
cannot be reached is named on standard error.`,
		Example: "  scorel inbox\n  scorel inbox --device dev_... --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		list, err := to.machines()
		if err != nil {
			return err
		}
		items, err := askMachines(cmd.Context(), a.stderr, list, inboxOf)
		if err != nil {
			return err
		}
		slices.SortStableFunc(items, func(x, y inboxItem) int { return cmp.Compare(x.CreatedAt, y.CreatedAt) })
		return printList(a.stdout, asJSON, items, listing[inboxItem]{
			none:   "nothing needs you",
			header: []string{"MACHINE", "SESSION", "REQUEST", "SINCE", "WHAT"},
			row: func(_ int, i inboxItem) []string {
				return []string{i.Machine, i.SessionID, i.RequestID, formatAgo(i.CreatedAt, time.Now()), clip(i.what(), 80)}
			},
		})
	}
	return cmd
}

// inboxOf lists the requests that wait on a machine.
func inboxOf(ctx context.Context, m machine) ([]inboxItem, error) {
	home, err := m.via.env.home()
	if err != nil {
		return nil, err
	}
	c, err := m.connect(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = c.Close() }() // everything was received
	id, err := m.deviceID(home)
	if err != nil {
		return nil, err
	}
	sessions, err := client.Call(ctx, c, api.ListSessions, api.ListSessionsRequest{All: true, Archived: api.ArchivedToo})
	if err != nil {
		return nil, err
	}
	var items []inboxItem
	for _, s := range sessions.Sessions {
		if !s.WaitingApproval && !s.WaitingAnswer {
			continue
		}
		waiting, err := requestsOf(ctx, c, api.ResyncEventsRequest{SessionID: s.ID, Unattended: true})
		if err != nil {
			return nil, err
		}
		for _, item := range waiting {
			item.DeviceID, item.Machine = id, m.label
			items = append(items, item)
		}
	}
	return items, nil
}

// requestsOf lists the requests that wait in a session.
func requestsOf(ctx context.Context, c *client.Client, of api.ResyncEventsRequest) ([]inboxItem, error) {
	now, err := client.Call(ctx, c, api.ResyncEvents, of)
	if err != nil {
		return nil, err
	}
	var items []inboxItem
	for _, approval := range now.Live.Approvals {
		items = append(items, inboxItem{SessionID: of.SessionID, Session: now.Session.Name, RequestID: approval.ID, CreatedAt: approval.CreatedAt, Approval: &approval})
	}
	for _, question := range now.Live.Questions {
		items = append(items, inboxItem{SessionID: of.SessionID, Session: now.Session.Name, RequestID: question.ID, CreatedAt: question.CreatedAt, Question: &question})
	}
	return items, nil
}
