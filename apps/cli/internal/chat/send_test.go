package chat

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAPromptGoesAsSoonAsTheProjectIsThere: the answer about the project may overtake the
// events that came before it, such as the one with the grants.
func TestAPromptGoesAsSoonAsTheProjectIsThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	var held []tea.Msg
	for w.model.next.project.ID == "" {
		msg := <-w.messages
		if _, ok := msg.(projectFound); ok {
			w.send(msg)
		} else {
			held = append(held, msg)
		}
	}
	w.write("hello")
	w.key(tea.KeyEnter, 0)
	if text := w.model.field.editor.Text(); text != "" {
		t.Fatalf("the prompt stays in the field: %q, %s", text, w.model.notice.text)
	}
	for _, msg := range held {
		w.send(msg)
	}
	w.idle()
}

func TestQueueSteerAndCancel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.open(80, 24, nil)
	w.prompt("stream 200000")
	w.until("a word of the answer", regexp.MustCompile(`word\d+ `).MatchString)
	w.prompt("first in the queue")
	w.await("Queued: first in the queue")
	w.write("join in")
	w.key('s', tea.ModCtrl)
	w.await("Will be read at the next step: join in")
	w.write("/queue")
	w.key(tea.KeyEscape, 0)
	w.key(tea.KeyEnter, 0)
	w.await("Enter: edit in the field")
	w.write("first")
	w.key(tea.KeyEnter, 0)
	w.until("the prompt in the field", func(string) bool {
		return w.model.field.editor.Text() == "first in the queue" && len(w.model.session.Live.Queue) == 1
	})
	w.key('c', tea.ModCtrl)
	w.key(tea.KeyEscape, 0)
	w.await("Canceled")
	w.idle()
}

// startWith opens a screen and writes prompts before anything that the host says is handled.
func (w *world) startWith(change func(*Config), prompts ...string) {
	w.t.Helper()
	w.open(80, 60, change)
	for _, text := range prompts {
		w.write(text)
		w.key(tea.KeyEnter, 0)
		if left := w.model.field.editor.Text(); left != "" {
			w.t.Fatalf("the prompt stays in the field: %q, %s", left, w.model.notice.text)
		}
	}
}

func TestPromptsWaitForTheHost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startWith(nil, "first of all", "and second", "then the third")
	w.await("Sending: then the third")
	w.idle()
	at := 0
	for _, text := range []string{"❯ first of all", "❯ and second", "❯ then the third"} {
		next := strings.Index(w.screen()[at:], text)
		if next < 0 {
			t.Fatalf("%q is not there, or not in its order:\n%s", text, w.screen())
		}
		at += next
	}
}

func TestPromptsComeBack(t *testing.T) {
	t.Parallel()
	const both = "first of all\n\nand second"
	back := func(t *testing.T, w *world, notice string) {
		t.Helper()
		w.await(notice)
		if got := w.model.field.editor.Text(); got != both || len(w.model.outbox.prompts) != 0 {
			t.Fatalf("the field has %q, on their way are %d", got, len(w.model.outbox.prompts))
		}
	}
	t.Run("the folder cannot be a project", func(t *testing.T) {
		w := newWorld(t)
		w.startWith(func(c *Config) { c.Folder = filepath.Join(w.folder, "missing") }, "first of all", "and second")
		back(t, w, "missing")
	})
	t.Run("another session", func(t *testing.T) {
		w := newWorld(t)
		id := w.importLong(2)
		w.startWith(nil, "first of all", "and second")
		w.model.open(id)
		back(t, w, "message 2")
	})
	t.Run("watching", func(t *testing.T) {
		w := newWorld(t)
		w.startWith(nil, "first of all", "and second")
		w.run(w.model.apply(feed.Connected{Host: api.HostInfo{Grants: []api.Grant{api.GrantView}}}))
		back(t, w, onlyWatching)
	})
}
