package sessions_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
)

// TestNamesSteerNothing: a session's name and the title that is made from its first prompt
// hold nothing that a terminal obeys or that turns the direction of text.
func TestNamesSteerNothing(t *testing.T) {
	const text = "fix\u009b31m the\u202e bug\u0085 \x1b[2Jnow\u2066"
	f := newFixture(t, modeltest.New(modeltest.Say("hello")))
	m := f.manager(t)
	s, w := f.create(t, m), newWatcher()
	subscribe(t, s, w)
	send(t, s, "k1", text)
	w.wait(func() bool { return w.ended == 1 })
	steers := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }
	if name := m.List("")[0].Name; !strings.HasPrefix(name, "fix31m the bug") || strings.IndexFunc(name, steers) >= 0 {
		t.Errorf("the title is %q", name)
	}
	check(t, s.Rename(t.Context(), "cli_x", "a"+text))
	if name := m.List("")[0].Name; !strings.HasPrefix(name, "afix31m the bug") || strings.IndexFunc(name, steers) >= 0 {
		t.Errorf("the name is %q", name)
	}
}
