package chats

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxDetail is how many messages show what an approval is about. What does not fit cannot be
// allowed in a chat, because the chat has not shown all of it.
const maxDetail = 4

// withdrawn says how something ended of which nobody knows more.
const withdrawn = "Answered elsewhere, or withdrawn."

// pending is an approval or question that waits now.
type pending struct {
	asked
	approval *api.Approval
	question *api.Question
}

// pendings returns what waits in a session and its subagents.
func (t *talk) pendings(root string, l *live) []pending {
	var all []pending
	approval := func(session string, a api.Approval) {
		all = append(all, pending{asked{ID: a.ID, Session: session, Root: root, Shown: a.Shown, Title: oneLine(a.Title), Name: t.askName(a.ID)}, &a, nil})
	}
	for _, a := range l.Approvals {
		approval(root, a)
	}
	for _, batch := range l.Subagents {
		for _, child := range batch.Children {
			for _, a := range child.Approvals {
				approval(child.SessionID, a)
			}
		}
	}
	for _, q := range l.Questions {
		all = append(all, pending{asked{ID: q.ID, Session: root, Root: root, Title: oneLine(q.Question), Question: true, Server: q.Server != "", Choices: q.Choices, Name: t.askName(q.ID)}, nil, &q})
	}
	return all
}

func (t *talk) askName(id string) string { return "ask:" + t.clientID + ":" + id }

func oneLine(text string) string {
	return channel.Cut(strings.Join(strings.Fields(text), " "), 200)
}

// ask shows what waits in a session and was not shown, and ends what was shown and waits no
// more.
func (t *talk) ask(root string, l *live) error {
	b := t.bound()
	if b == nil {
		return errRemoved
	}
	now := t.pendings(root, l)
	waits := func(id string) bool { return slices.ContainsFunc(now, func(p pending) bool { return p.ID == id }) }
	shown := func(id string) bool { return slices.ContainsFunc(b.Asked, func(a asked) bool { return a.ID == id }) }
	news := slices.ContainsFunc(now, func(p pending) bool { return !shown(p.ID) })
	// A turn that continues after a restart asks again in a moment: what waited still waits, unless
	// the log says how it ended. What a server asks is another question then.
	over := func(a asked) bool {
		again := l.Turn != nil && l.decided[a.ID] == "" && a.Session == root && !a.Server
		return a.Root == root && !waits(a.ID) && !again
	}
	ended := slices.ContainsFunc(b.Asked, over)
	if !news && !ended {
		return nil
	}
	limits := t.platformLimits()
	mayAllow := slices.Contains(b.Grants, api.GrantApprove)
	return t.change(func(f *record, b *bound) {
		kept := b.Asked[:0]
		for _, a := range b.Asked {
			if !over(a) {
				kept = append(kept, a)
				continue
			}
			how := l.decided[a.ID]
			if how == "" {
				how = withdrawn
			}
			b.over(a, how)
			text := []channel.Segment{{Text: visible.Text(a.Title) + "\n"}, {Kind: channel.Bold, Text: how}}
			f.say(item{Chat: b.Chat.ID, Text: channel.Split(text, limits)[0], Name: a.Name, Edit: true, Silent: true})
			f.say(item{Chat: b.Chat.ID, Name: a.Name, Forget: true})
		}
		b.Asked = kept
		for _, p := range now {
			if len(b.Asked) >= maxAsked || slices.ContainsFunc(b.Asked, func(a asked) bool { return a.ID == p.ID }) {
				continue
			}
			items := p.items(b, limits, mayAllow)
			b.Asked = append(b.Asked, p.asked)
			for _, i := range items {
				f.say(i)
			}
		}
	})
}

// items are the messages that show an approval or question. The last one has the buttons, or says
// in words what they would do.
func (p *pending) items(b *bound, limits channel.Limits, mayAllow bool) []item {
	text, buttons := p.questionText(limits), p.choices()
	if p.approval != nil {
		text = approvalText(*p.approval)
	}
	parts := channel.Split(text, limits)
	if p.approval != nil {
		whole := len(parts) <= maxDetail
		if !whole {
			parts = append(parts[:maxDetail:maxDetail], channel.Text("It is too long to be shown here. To allow it, read it in the web UI or with `scorel inbox`."))
		}
		p.Partial = !whole
		if buttons = approvalButtons(*p.approval, mayAllow, whole); !limits.Buttons {
			parts = withWords(parts, p.inWords(b.ClientID, buttons), limits)
		}
	}
	if len(parts) == 0 {
		parts = [][]channel.Segment{channel.Text("Approval needed")}
	}
	var out []item
	for n, part := range parts {
		i := item{Chat: b.Chat.ID, Text: part} // with a key of its own: what is asked again is shown again
		if n == len(parts)-1 {
			i.Name, i.Buttons = p.Name, buttons
		}
		out = append(out, i)
	}
	return out
}

// approvalText reads as what runs: invisible characters are written out.
func approvalText(a api.Approval) []channel.Segment {
	text := []channel.Segment{{Kind: channel.Bold, Text: "Approval needed: " + visible.Text(oneLine(a.Title))}}
	if a.Risk != nil {
		text = append(text, channel.Segment{Text: visible.Text(fmt.Sprintf("\nRisk: %s %s", a.Risk.Level, strings.Join(a.Risk.Reasons, ", ")))})
	}
	if a.Cwd != "" {
		text = append(text, channel.Segment{Text: "\nFolder: " + visible.Text(a.Cwd)})
	}
	if detail := strings.TrimRight(a.Detail, "\n"); detail != "" {
		lang := ""
		if a.IsDiff {
			lang = "diff"
		}
		text = append(text, channel.Segment{Kind: channel.Block, Text: visible.Text(detail), Lang: lang})
	}
	return text
}

func approvalButtons(a api.Approval, mayAllow, whole bool) []channel.Button {
	allow, deny := hashData(api.DecisionAllow, a.Shown), hashData(api.DecisionDeny, a.Shown)
	if !mayAllow || deny == "" {
		return nil
	}
	buttons := []channel.Button{{Label: "Deny", Data: deny}}
	if whole {
		risky := a.Risk != nil && a.Risk.Level == api.RiskHigh
		buttons = append([]channel.Button{{Label: "Allow once", Data: allow, Risky: risky}}, buttons...)
	}
	return buttons
}

func (p pending) questionText(limits channel.Limits) []channel.Segment {
	if p.question == nil {
		return nil
	}
	who, body := "The agent asks:", channel.ParseMarkdown(p.question.Question)
	if server := p.question.Server; server != "" { // it is shown as it was written
		who = "The MCP server " + visible.Text(oneLine(server)) + " asks, and receives the answer (send no passwords or keys):"
		body = channel.Text(visible.Text(p.question.Question))
	}
	text := append([]channel.Segment{{Kind: channel.Bold, Text: who}, {Text: "\n"}}, body...)
	for n, choice := range p.question.Choices {
		text = append(text, channel.Segment{Text: fmt.Sprintf("\n%d. %s", n+1, choice)})
	}
	end := "\nThe next message in this chat is the answer."
	if !limits.Buttons && len(p.question.Choices) > 0 {
		end = "\nThe next message in this chat is the answer; a number stands for that choice."
	}
	return append(text, channel.Segment{Text: end})
}

func (p pending) choices() (buttons []channel.Button) {
	for n, choice := range p.Choices[:min(len(p.Choices), channel.MaxButtons)] {
		buttons = append(buttons, channel.Button{Label: fmt.Sprintf("%d. %s", n+1, channel.Cut(oneLine(choice), 40)), Data: choiceData(p.ID, n)})
	}
	return buttons
}
