package sessions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/sessions/store"
	"github.com/scorel/scorel/apps/host/internal/sessions/window"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// core is what all parts of a session share: its log, what is derived from the log, and its
// events. The session's goroutine owns it.
type core struct {
	owner
	stream

	// Static after newCore.
	id      string
	parent  string // id of the session whose agent created this one; "" if a person did
	project api.Project
	deps    Deps
	others  others
	// activity tells what the parts of the session are doing.
	activity func() activity

	summary api.SessionSummary
	closing bool // no new work begins, because the host ends or the session was deleted
	// pausing is set while the session is to be moved: no new work begins. paused is why
	// nothing is appended once it rests.
	pausing *pauseRequest
	paused  error
	// held is set while the host is to be replaced: no new work begins.
	held holding

	// Derived from the log each time it is opened.
	log    *store.Session // nil while the session sleeps
	view   *window.View
	digest index.Digest
	done   map[string]string // clientKey of a request -> id of the entry that it made
	// lost: the provider does not know what it stored, so the log must be read again.
	lost bool
}

// others are the other sessions of the host. Manager implements it. No method waits for
// another session.
type others interface {
	// summaryChanged announces the summary of a session.
	summaryChanged(api.SessionSummary)
	// withSubagents adds the usage of its subagents to the summary of a session.
	withSubagents(api.SessionSummary) api.SessionSummary
	// afford returns why no model may be called for a session, or nil.
	afford(id string) error
	// modeOf returns the mode of a session; false if the session is unknown.
	modeOf(id string) (api.Mode, bool)
	// rootOf returns the session that people see of a session: itself, or the one above all that
	// it is a subagent of.
	rootOf(id string) string
	// recheckProject and recheckSubagents have the open sessions of a project, or those of a
	// session's subagents, judge the calls that wait again, because of a change by clientID.
	recheckProject(projectID, clientID string)
	recheckSubagents(parentID, clientID string)
}

// activity is what the parts of a session are doing.
type activity struct {
	running   bool // a turn, or a command that is shown as one
	approvals bool // some wait
	questions bool // some wait
}

func newCore(k *known, deps Deps, others others) *core {
	c := &core{
		owner: newOwner(), stream: newStream(k.header.ID, deps.Logger),
		id: k.header.ID, parent: k.header.ChildOf, project: deps.projectIn(k.header.ID, k.project), deps: deps, others: others, summary: k.summary,
	}
	if deps.Moves != nil {
		if c.paused = deps.Moves.Paused(c.id); c.paused != nil {
			c.pausing = &pauseRequest{why: c.paused}
		}
	}
	return c
}

// resting reports whether no new work begins.
func (c *core) resting() bool { return c.closing || c.pausing != nil || c.held.on }

// appendTimeout bounds how long a provider may take over one entry.
const appendTimeout = 30 * time.Second

// adder stores an entry.
type adder func(context.Context, store.Mark) (session.Entry, error)

// append stores an entry and then publishes it.
func (c *core) append(mark store.Mark, add adder) (session.Entry, error) {
	return c.appendAs(mark, add, c.digest.Add)
}

// appendAs is append with the function that adds the entry to the digest.
func (c *core) appendAs(mark store.Mark, add adder, digest func(session.Entry)) (session.Entry, error) {
	ctx, cancel := context.WithTimeout(context.Background(), appendTimeout)
	defer cancel()
	if c.paused != nil {
		return session.Entry{}, c.paused
	}
	mark.Seq = c.seq + 1
	entry, err := add(ctx, mark)
	if err != nil {
		c.lost = c.lost || errors.Is(err, store.ErrLost)
		return session.Entry{}, err
	}
	digest(entry)
	if c.deps.Index != nil {
		c.deps.Index.Touch(c.id, c.project.ID)
	}
	if mark.ClientKey != "" && entry.Type != session.TypeMessage {
		c.done[mark.ClientKey] = entry.ID
	}
	c.publish(api.EntryAppended{Entry: c.view.Sendable(entry)})
	return entry, nil
}

func (c *core) appendMessage(mark store.Mark, message session.Message) (session.Entry, error) {
	raw, err := session.Encode(message)
	if err != nil {
		return session.Entry{}, err
	}
	mark.Step = message.Role != session.RoleAssistant || message.StopReason == session.StopToolUse
	return c.appendAs(mark, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return c.log.AppendMessage(ctx, mark, raw)
	}, func(e session.Entry) {
		c.digest.AddMessage(e, session.MessageEntry{Message: message, ClientKey: mark.ClientKey, TurnID: mark.TurnID})
	})
}

func (c *core) appendCustom(customType string, data any, clientID string) error {
	raw, err := session.Encode(data)
	if err != nil {
		return err
	}
	_, err = c.append(store.Mark{ClientID: clientID, Step: isStep(customType, data)}, func(ctx context.Context, mark store.Mark) (session.Entry, error) {
		return c.log.AppendCustom(ctx, mark, customType, raw)
	})
	return err
}

// isStep reports whether a turn continues after an entry, so that a signed entry follows: it
// records something that begins to wait, or what calls leave.
func isStep(customType string, data any) bool {
	switch record := data.(type) {
	case session.ApprovalRecord:
		return record.Decision == ""
	case session.QuestionRecord:
		return record.Outcome == ""
	case session.BackendRecord:
		return record.TurnID != ""
	}
	return slices.Contains([]string{session.CustomQueue, session.CustomProcess, session.CustomSubagents, session.CustomInstructions, session.CustomSkills, session.CustomMemory}, customType)
}

// window returns the context window of the model that answers next; 0 is not known.
func (c *core) window() int {
	_, model, err := c.deps.Models.Model(c.summary.Model)
	if err != nil || c.summary.Backend != "" { // that program looks after its own context
		return 0
	}
	return model.ContextWindow
}

// updateSummary renews the summary and announces it if it changed.
func (c *core) updateSummary() {
	summary := summarize(&c.digest, c.project.ID, c.log.Header(), c.log.Damage(), c.deps.Models)
	now := c.activity()
	summary.Running = now.running
	summary.Worktree = c.Worktree()
	summary.WaitingApproval, summary.WaitingAnswer = now.approvals || c.live.SubagentWaits(), now.questions
	if !reflect.DeepEqual(summary, c.summary) {
		c.summary = summary
		c.others.summaryChanged(summary)
	}
}

// attended reports whether someone watches the session, or the list of sessions, who may give
// answers that need the grant. The list shows that the session waits.
func (c *core) attended(grant api.Grant) bool {
	return c.watched(grant) || c.deps.Attended != nil && c.deps.Attended(c.project.ID, grant)
}

// updateAttendance publishes a change of whether something waits that no one who watches
// may answer. The summary is announced before, so that Manager.Attend misses no session.
func (c *core) updateAttendance() {
	if c.log == nil {
		return
	}
	now := c.activity()
	unattended := now.approvals && !c.attended(api.GrantApprove) || now.questions && !c.attended(api.GrantPrompt)
	if unattended != c.live.Unattended {
		c.publish(api.AttendanceChanged{Unattended: unattended})
	}
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}
