package chats

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

func (h *handling) command(ctx context.Context, b *bound, c *client.Client, name, rest string) error {
	switch name {
	case "new":
		return h.newSession(ctx, b, c, rest)
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
	snapshot, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: b.Session})
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
	snapshot, err := client.Call(ctx, c, api.GetSnapshot, api.SessionRequest{SessionID: b.Session})
	if err != nil {
		return err
	}
	s := snapshot.Session
	h.say(fmt.Sprintf("Project: %s\nSession: %s\nState: %s\nModel: %s\nMode: %s\nQueued: %d", project.Name, title(s), stateOf(s), s.Model, s.Mode, len(snapshot.Live.Queue)))
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

func stateOf(s api.SessionSummary) string {
	switch {
	case s.WaitingApproval:
		return "waits for an approval"
	case s.WaitingAnswer:
		return "waits for an answer"
	case s.Running:
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
		fmt.Fprintf(&text, "%d. %s: %s%s\n", n+1, title(s), stateOf(s), mark)
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

// hashData is the data of a button that answers an approval: the decision and the hash of what
// was shown.
func hashData(decision api.Decision, shown string) string {
	raw, err := hex.DecodeString(shown)
	if err != nil || len(raw) > 40 {
		return ""
	}
	return string(decision[:1]) + ":" + base64.RawURLEncoding.EncodeToString(raw)
}

// press handles a button.
func (h *handling) press(ctx context.Context, p channel.Press) error {
	presser := p.From.ID
	if p.Anyone {
		presser = "" // whoever the server hears
	}
	b, c, err := h.here(ctx, p.Chat.ID, presser)
	if b == nil || err != nil {
		return err
	}
	notice := ""
	what, rest, _ := strings.Cut(p.Data, ":")
	switch what {
	case "s":
		notice, err = h.switchTo(ctx, b, c, rest)
	case "a", "d":
		notice, err = h.answerApproval(ctx, b, c, p)
	case "q":
		notice, err = h.pressChoice(ctx, b, c, p)
	}
	var refused *api.Error
	if errors.As(err, &refused) {
		notice = refused.Message
	}
	h.mu.Lock()
	platform := h.platform
	h.mu.Unlock()
	if err := platform.Answer(ctx, p, notice); err != nil {
		h.Logger.Debug("confirming a button", "channel", h.store.read().ID, "error", err)
	}
	return err
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

// askedBy returns what a button answers, or nil. matches compares the data of the button with
// what was asked. A message whose id is not stored yet may be the one; any other is not.
func (h *handling) askedBy(b *bound, p channel.Press, matches func(asked) bool) *asked {
	stored := h.store.read()
	i := slices.IndexFunc(b.Asked, func(a asked) bool {
		id := stored.messageOf(a.Name)
		return matches(a) && (id == "" || id == p.MessageID)
	})
	if i < 0 {
		return nil
	}
	return &b.Asked[i]
}

const changed = "This was answered already, or has changed: nothing was decided."

// answerApproval answers an approval. The button carries the hash of what was shown in the
// message; the host compares it with what waits now.
func (h *handling) answerApproval(ctx context.Context, b *bound, c *client.Client, p channel.Press) (string, error) {
	decision := api.DecisionDeny
	if strings.HasPrefix(p.Data, "a:") {
		decision = api.DecisionAllow
	}
	a := h.askedBy(b, p, func(a asked) bool { return !a.Question && hashData(decision, a.Shown) == p.Data })
	if a == nil {
		return changed, nil
	}
	notice, _, err := h.decide(ctx, c, *a, decision)
	return notice, err
}

// decide answers an approval that the chat was shown, and says how that ended; won says that it
// was this answer that counts.
func (h *handling) decide(ctx context.Context, c *client.Client, a asked, decision api.Decision) (notice string, won bool, err error) {
	if decision == api.DecisionAllow && a.Partial {
		return "It was not shown in full here: allow it in the web UI, or with `scorel inbox`.", false, nil
	}
	answer, err := client.Call(ctx, c, api.AnswerApproval, api.AnswerApprovalRequest{SessionID: a.Session, ApprovalID: a.ID, Decision: decision, Shown: a.Shown})
	var refused *api.Error
	if errors.As(err, &refused) && (refused.Kind == api.KindNotFound || refused.Kind == api.KindConflict) {
		return changed, false, nil
	}
	if err != nil {
		return "", false, err
	}
	if !answer.Won {
		return "Answered before: " + h.decided(answer.Decision, answer.DecidedBy, answer.Released), false, nil
	}
	return h.decided(answer.Decision, "", nil), true, nil
}

// pressChoice answers a question with one of its choices.
func (h *handling) pressChoice(ctx context.Context, b *bound, c *client.Client, p channel.Press) (string, error) {
	answer := ""
	a := h.askedBy(b, p, func(a asked) bool {
		n := slices.IndexFunc(a.Choices, func(choice string) bool { return choiceData(a.ID, slices.Index(a.Choices, choice)) == p.Data })
		if a.Question && n >= 0 {
			answer = a.Choices[n]
		}
		return a.Question && n >= 0
	})
	if a == nil {
		return changed, nil
	}
	return "", h.answerQuestion(ctx, c, *a, answer)
}

// choiceData is the data of a button that answers a question.
func choiceData(questionID string, n int) string {
	return "q:" + strconv.Itoa(n) + ":" + key("question", questionID)
}

func (h *handling) answerQuestion(ctx context.Context, c *client.Client, q asked, answer string) error {
	_, err := client.Call(ctx, c, api.AnswerQuestion, api.AnswerQuestionRequest{SessionID: q.Session, QuestionID: q.ID, Answer: channel.Cut(answer, api.MaxAnswer)})
	return err
}

// decided says how an approval ended. by is "" for the chat itself.
func (c *Chats) decided(d api.Decision, by string, released *session.Release) string {
	if released != nil {
		return "Allowed by a rule or mode."
	}
	words := map[api.Decision]string{api.DecisionAllow: "Allowed", api.DecisionAlways: "Allowed, also from now on,", api.DecisionDeny: "Denied", api.DecisionStop: "Denied and stopped"}
	word, known := words[d]
	if !known {
		return "Canceled."
	}
	if name := c.name(by); name != "" {
		word += " by " + name
	}
	return strings.TrimSuffix(word, ",") + "."
}

func (c *Chats) name(clientID string) string {
	if clientID == "" {
		return ""
	}
	if label := c.Label(clientID); label != "" {
		return label
	}
	return channel.CleanName(c.NameOf(clientID))
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
