package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/scorel/scorel/apps/cli/internal/chat/theme"
)

// TestErrorsShowTheAddressOfHelp: the address is complete at every width, as is the row above it.
func TestErrorsShowTheAddressOfHelp(t *testing.T) {
	t.Parallel()
	const address = "https://github.com/scorel/scorel/blob/main/docs/troubleshooting.md#not_allowed"
	failure := errors.New("this needs the grant shell")
	s := screen{height: 24, theme: theme.New(true)}
	n := &notices{explainer: explainer{error.Error, func(err error) string {
		if err == failure {
			return address
		}
		return ""
	}}}
	for _, s.width = range []int{12, 40, 80, 120} {
		n.fail(failure)
		rows := n.lines(s)
		var help strings.Builder
		for i, row := range rows {
			if ansi.StringWidth(row) > s.width {
				t.Errorf("%d columns: the row %q is too wide", s.width, row)
			}
			if i > 0 {
				help.WriteString(strings.TrimPrefix(ansi.Strip(row), " "))
			}
		}
		if help.String() != "Help: "+address {
			t.Errorf("%d columns: %q", s.width, help.String())
		}
	}
	m := &Model{screen: s, notice: n, conn: &connection{lost: failure}, cfg: Config{Now: time.Now}}
	n.say("saved")
	if rows := m.status(); len(rows) != 1 || !strings.Contains(rows[0], "saved") {
		t.Errorf("a notice that is no error: %q", rows)
	}
	n.clear()
	if rows := m.status(); len(rows) != 2 || !strings.Contains(rows[0], "Disconnected") || !strings.Contains(rows[1], address) {
		t.Errorf("a lost connection: %q", rows)
	}
	n.fail(errors.New("the file exists already"))
	if rows := m.status(); len(rows) != 1 || !strings.Contains(rows[0], "exists already") {
		t.Errorf("an error without help: %q", rows)
	}
}
