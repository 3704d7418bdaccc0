package chats

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

const helpText = `/new [prompt] begins a session
/stop cancels the running turn
/status shows the session
/sessions lists the sessions; a button switches
/mode [mode] shows or sets the mode
/file PATH sends a file of the project
Anything else is a prompt. On platforms that keep / for themselves, write ! instead.`

// help lists the commands. Those that stand for buttons are listed where there are none.
func (h *handling) help() string {
	if h.platformLimits().Buttons {
		return helpText
	}
	return "/allow CODE and /deny CODE answer an approval, with the code below it\n/sessions CODE switches to a session\n" + helpText
}

// readCommand reads a command: a first word after "/" or "!".
func readCommand(text string) (name, rest string, ok bool) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] != '/' && text[0] != '!' {
		return "", "", false
	}
	name, rest, _ = strings.Cut(text[1:], " ")
	name = strings.ToLower(name)
	known := slices.Contains([]string{"new", "stop", "status", "sessions", "mode", "file", "allow", "deny", "help", "start"}, name)
	if !known && text[0] == '!' {
		return "", "", false // "!important" is a text
	}
	return name, strings.TrimSpace(rest), true
}

// command handles a command, in the goroutine of the chat.
func (h *handling) command(ctx context.Context, b *bound, c *client.Client, name, rest string) error {
	switch name {
	case "stop":
		return h.stop(ctx, b, c)
	case "status":
		return h.status(ctx, b, c)
	case "sessions":
		return h.sessions(ctx, b, c, rest)
	case "mode":
		return h.mode(ctx, b, c, rest)
	case "file":
		return h.file(b, rest)
	case "allow":
		return h.answerByCode(ctx, b, c, api.DecisionAllow, rest)
	case "deny":
		return h.answerByCode(ctx, b, c, api.DecisionDeny, rest)
	case "help", "start":
		h.say(h.help())
		return nil
	}
	h.say("There is no command /" + channel.CleanName(name) + ".\n\n" + h.help())
	return nil
}

func (h *handling) newSession(ctx context.Context, b *bound, c *client.Client, rest string) error {
	m := *h.u.Message
	if rest != "" || len(m.Files) > 0 {
		content, err := h.content(ctx, c, m, rest)
		if err != nil {
			return err
		}
		return h.begin(ctx, b, c, key(h.store.read().ID, m.Chat.ID, m.ID), content)
	}
	h.edit(func(f *record) error {
		if b := f.chat(m.Chat.ID); b != nil {
			b.use("", 0)
		}
		return nil
	})
	h.say("The next message begins a new session.")
	return nil
}

const noSession = "This chat has no session yet: write what the agent should do."

func (h *handling) stop(ctx context.Context, b *bound, c *client.Client) error {
	if b.Session == "" {
		h.say(noSession)
		return nil
	}
	snapshot, err := h.snapshot(ctx, c, b.Session)
	if err != nil {
		return err
	}
	if snapshot.Live.Turn == nil {
		h.say("Nothing is running.")
		return nil
	}
	_, err = client.Call(ctx, c, api.CancelTurn, api.CancelTurnRequest{SessionID: b.Session, TurnID: snapshot.Live.Turn.TurnID})
	if err == nil {
		h.say("Stopping.")
	}
	return err
}

func (h *handling) status(ctx context.Context, b *bound, c *client.Client) error {
	project, err := h.Projects.Find(b.ProjectID)
	if err != nil {
		return err
	}
	if b.Session == "" {
		h.say("Project: " + project.Name + "\n" + noSession)
		return nil
	}
	snapshot, err := h.snapshot(ctx, c, b.Session)
	if err != nil {
		return err
	}
	s, queued := snapshot.Session, len(snapshot.Live.Queue)
	if l := h.talk.live[s.ID]; l != nil {
		queued = len(l.Queue)
	}
	h.say(fmt.Sprintf("Project: %s\nSession: %s\nState: %s\nModel: %s\nMode: %s\nQueued: %d", project.Name, title(s), h.talk.stateOf(s), s.Model, s.Mode, queued))
	return nil
}

func title(s api.SessionSummary) string {
	name := strings.Join(strings.Fields(s.Name), " ")
	if name == "" {
		return "untitled"
	}
	if len(name) > 60 {
		return channel.Cut(name, 57) + "…"
	}
	return name
}

// stateOf says what a session does. For one that the chat follows, this is what the chat was sent
// last: a summary may be newer. Only the goroutine of the chat calls it.
func (t *talk) stateOf(s api.SessionSummary) string {
	approval, answer, working := s.WaitingApproval, s.WaitingAnswer, s.Running
	if l := t.live[s.ID]; l != nil {
		approval, answer, working = false, false, l.Turn != nil
		for _, p := range t.pendings(s.ID, l) {
			approval, answer = approval || p.approval != nil, answer || p.question != nil
		}
	}
	switch {
	case approval:
		return "waits for an approval"
	case answer:
		return "waits for an answer"
	case working:
		return "working"
	}
	return "idle"
}

// sessions lists the sessions of the project; the data of a button has the id of one. Where there
// are no buttons, each has a code.
func (h *handling) sessions(ctx context.Context, b *bound, c *client.Client, rest string) error {
	list, err := client.Sessions(ctx, c, api.ListSessionsRequest{ProjectID: b.ProjectID, Limit: channel.MaxButtons})
	if err != nil {
		return err
	}
	if err := h.talk.catchUp(ctx, c); err != nil {
		return err
	}
	if len(list) == 0 {
		h.say("The project has no sessions yet.")
		return nil
	}
	byCode := !h.platformLimits().Buttons
	if rest != "" && byCode {
		i := slices.IndexFunc(list, func(s api.SessionSummary) bool { return sessionCode(b.ClientID, s.ID) == typedCode(rest) })
		if i < 0 {
			h.say("No session of the list has this code: /sessions shows the list.")
			return nil
		}
		_, err := h.switchTo(ctx, b, c, list[i].ID)
		return err
	}
	var text strings.Builder
	var buttons []channel.Button
	for n, s := range list {
		mark := ""
		if s.ID == b.Session {
			mark = " (this chat)"
		}
		if byCode {
			mark += ", /sessions " + sessionCode(b.ClientID, s.ID)
		}
		fmt.Fprintf(&text, "%d. %s: %s%s\n", n+1, title(s), h.talk.stateOf(s), mark)
		buttons = append(buttons, channel.Button{Label: fmt.Sprintf("%d. %s", n+1, channel.Cut(title(s), 30)), Data: "s:" + s.ID})
	}
	h.say(text.String(), buttons...)
	return nil
}

func (h *handling) mode(ctx context.Context, b *bound, c *client.Client, rest string) error {
	switch {
	case b.Session == "":
		h.say(noSession)
		return nil
	case rest == "":
		snapshot, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: b.Session})
		if err == nil {
			h.say("Mode: " + string(snapshot.Session.Mode) + ". Modes: " + api.ModeNames())
		}
		return err
	case !slices.Contains(api.Modes(), api.Mode(rest)):
		h.say("Unknown mode. Modes: " + api.ModeNames())
		return nil
	}
	_, err := client.Call(ctx, c, api.SetMode, api.SetModeRequest{SessionID: b.Session, Mode: api.Mode(rest)})
	if err == nil {
		h.say("Mode: " + rest)
	}
	return err
}

func (h *handling) file(b *bound, path string) error {
	if path == "" {
		h.say("Which file? Write /file PATH, with a path in the project.")
		return nil
	}
	if h.platformLimits().File == 0 {
		h.say("This platform takes no files.")
		return nil
	}
	file := &sentFile{ClientID: b.ClientID, Session: b.Session, Path: path}
	if b.Session == "" {
		file.Project = b.ProjectID
	}
	h.said = append(h.said, item{Key: key("file", h.u.ID), Chat: b.Chat.ID, File: file})
	return nil
}

func (h *handling) switchTo(ctx context.Context, b *bound, c *client.Client, id string) (string, error) {
	snapshot, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: id})
	if err != nil {
		return "", err
	}
	if snapshot.Session.ProjectID != b.ProjectID {
		return "", api.Errorf(api.KindNotFound, "This session is in another project.")
	}
	last, err := client.Call(ctx, c, api.GetEntries, api.GetEntriesRequest{SessionID: id, Limit: 1})
	if err != nil {
		return "", err
	}
	seq := uint64(0)
	for _, e := range last.Entries {
		seq = e.Seq
	}
	if err := h.store.change(func(f *record) error {
		if b := f.chat(b.Chat.ID); b != nil {
			b.use(id, seq)
		}
		return nil
	}); err != nil {
		return "", err
	}
	h.follow(b.ClientID)
	h.say("Messages go to the session " + title(snapshot.Session) + " now.")
	return "", nil
}

func (h *handling) changeQueued(ctx context.Context, c *client.Client, sessionID string, p session.QueuedPrompt, text string) error {
	snapshot, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: sessionID})
	if err != nil {
		return err
	}
	request := api.EditQueueRequest{SessionID: sessionID, Items: []api.QueueItem{}}
	for _, have := range snapshot.Live.Queue {
		request.Expected = append(request.Expected, have.ClientKey)
		switch {
		case have.ClientKey != p.ClientKey:
			request.Items = append(request.Items, api.QueueItem{ClientKey: have.ClientKey})
		case text != "":
			request.Items = append(request.Items, api.QueueItem{ClientKey: have.ClientKey, Text: text})
		}
	}
	_, err = client.Call(ctx, c, api.EditQueue, request)
	return err
}
