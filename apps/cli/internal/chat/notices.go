package chat

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/sanitize"
)

// problem is an error as the screen shows it: one sentence, and the address of what to do about
// it, "" if the sentence says everything.
type problem struct{ text, help string }

// explainer makes errors sentences for people.
type explainer struct {
	explain func(err error) string
	help    func(err error) string
}

func (e explainer) problem(err error) problem { return problem{e.explain(err), e.help(err)} }

// notices is the text that is shown until the next key. Every part of the screen may set it.
type notices struct {
	explainer
	text string
	bad  *problem // the text is this error; nil for another text
}

// say shows a text.
func (n *notices) say(text string) { n.text, n.bad = text, nil }

// fail shows an error.
func (n *notices) fail(err error) {
	p := n.problem(err)
	n.text, n.bad = p.text, &p
}

// report shows an error, if there is one.
func (n *notices) report(err error) {
	if err != nil {
		n.fail(err)
	}
}

// said shows the outcome of a request.
func (n *notices) said(s said) {
	switch {
	case s.err != nil:
		n.fail(s.err)
	case s.text != "":
		n.say(s.text)
	}
}

// clear shows nothing.
func (n *notices) clear() { n.text, n.bad = "", nil }

// lines are the rows of the text, at most one unless it is an error with an address.
func (n *notices) lines(s screen) []string {
	switch {
	case n.text == "":
		return nil
	case n.bad != nil:
		return s.problem(*n.bad, " ")
	}
	return []string{s.theme.Warn.Render(ansi.Truncate(" "+sanitize.Line(n.text), s.width, "…"))}
}
