package chat

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// painting is a sequence that changes colors and nothing else. 8 would hide text.
var painting = regexp.MustCompile(`^\x1b\[([0-7]|9|[0-9]{2,3}|[;:])*m`)

// onlyColors returns the place of the first control character that is not a line end or part of
// a change of colors, or -1.
func onlyColors(text string) int {
	for i := 0; i < len(text); {
		if found := painting.FindString(text[i:]); found != "" {
			i += len(found)
			continue
		}
		r, size := rune(text[i]), 1
		if r >= 0x80 {
			for _, r = range text[i:] {
				size = len(string(r))
				break
			}
		}
		if r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control)) {
			return i
		}
		i += size
	}
	return -1
}

// TestHostileText: no text from elsewhere reaches the terminal as a control sequence.
func TestHostileText(t *testing.T) {
	t.Parallel()
	const evil = "a\x1b]0;title\x07b\x1b[2Jc\u009b31md\u202ee\rf\x00g\x1b[8mh"
	w := newWorld(t)
	w.open(80, 40, nil)
	w.prompt("hello")
	w.idle()
	m := w.model
	m.session.Summary.Name, m.next.project.Name, m.next.project.Path, m.conn.host.Label = evil, evil, evil, evil
	m.session.Live.Approvals = []api.Approval{{ID: "1", ToolName: evil, Title: evil, Detail: evil + "\n+" + evil, Cwd: evil, Reason: evil,
		IsDiff: true, Risk: &api.Risk{Level: api.RiskHigh, Reasons: []string{evil}}, ProposedRules: []string{evil}}}
	m.session.Live.Queue = []session.QueuedPrompt{{Text: evil}}
	m.session.Live.Partial = []api.PartialBlock{
		{Type: session.BlockText, Text: evil + "\n\n```" + evil + "\n" + evil + "\n```\n\n[" + evil + "](" + evil + ") `" + evil + "` &#27;[2J &#x1b;[2J **" + evil + "**\n\n| a | b |\n|---|---|\n|" + evil + "|x|"},
		{Type: session.BlockThinking, Text: evil},
		{Type: session.BlockToolCall, Name: evil, Text: `{"command":"` + "a\\u001b[2Jb" + `"}`},
	}
	m.notice.fail(api.Errorf(api.KindConflict, "%s", evil))
	m.complete.list = suggestions{word: "@", rows: []row{{title: evil, detail: evil}}}
	m.session.transcript.Sync(&m.session.Session)
	m.card.refresh(m.session.Live, m.session.Summary.ID, m.picker != nil)
	m.field.editor.Insert(evil)
	check := func(what string) {
		t.Helper()
		v := m.View()
		for _, text := range []string{v.Content, v.WindowTitle} {
			if at := onlyColors(text); at >= 0 {
				t.Errorf("%s: a control sequence reaches the terminal: %q", what, text[at:min(at+40, len(text))])
			}
		}
		if !strings.Contains(v.Content, `\x1b`) {
			t.Errorf("%s: the escape character is not visible", what)
		}
	}
	check("the chat")
	m.show(&picker{title: "x", rows: []row{{title: evil, detail: evil}}, filter: m.field.editor}, nil)
	check("a list")
}
