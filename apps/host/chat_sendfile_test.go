package host_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host"
	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/api"
)

// TestAgentSendsAFile has the agent send files to a chat: with approval, of the project only, up to
// the limit, and with the content that it had.
func TestAgentSendsAFile(t *testing.T) {
	send := func(id, path string) modeltest.Step {
		return modeltest.Calls(modeltest.Call(id, "send_file", `{"path":"`+path+`"}`))
	}
	big := strings.Repeat("0123456789abcdef", 20<<16)
	s := newChatScene(t, map[string]string{"out/big.bin": "\x00" + big[1:], "over.bin": big + "x", ".env": "KEY=secret", "again.txt": "one"},
		modeltest.Calls(
			modeltest.Call("a", "send_file", `{"path":"out/big.bin"}`), modeltest.Call("b", "send_file", `{"path":"over.bin"}`), modeltest.Call("c", "send_file", `{"path":"/etc/hostname"}`)),
		modeltest.Say("Sent it."), send("d", ".env"), modeltest.Say("Tried."), send("e", "again.txt"), modeltest.Say("Once more."))
	s.platform.SetLimits(channel.Limits{Text: 4000, Edits: true, Buttons: true, Idempotent: true, File: channel.MaxFile})
	held := &heldEdits{Memory: s.platform}
	host.OpenPlatform(&s.cfg, func(string, map[string]string, bool) (channel.Platform, error) { return held, nil })
	s.open()
	s.pair()
	allowNext := func(title string) {
		t.Helper()
		asked := s.await(title, func(shown []channeltest.Shown) bool {
			for _, m := range shown {
				if strings.Contains(m.Text, title) && len(m.Buttons) == 2 {
					return true
				}
			}
			return false
		})
		for _, m := range asked {
			if strings.Contains(m.Text, title) && len(m.Buttons) == 2 {
				s.fake.Press(group, ada, m.ID, m.Buttons[0].Data)
			}
		}
	}
	s.fake.Say(group, ada, "send me the build")
	allowNext("Send out/big.bin to the chat")
	allowNext("Send over.bin to the chat")
	allowNext("Send /etc/hostname to the chat")
	s.shows("Sent it.")
	shown := s.await("the file", func(shown []channeltest.Shown) bool {
		for _, m := range shown {
			if m.FileName != "" {
				return true
			}
		}
		return false
	})
	files := 0
	for _, m := range shown {
		if m.FileName != "" {
			files++
			if m.FileName != "big.bin" || string(m.File) != "\x00"+big[1:] {
				t.Errorf("%q with %d bytes arrived", m.FileName, len(m.File))
			}
		}
	}
	if body := s.asked(2); files != 1 || !strings.Contains(body, "larger than 20 MB") || !strings.Contains(body, "outside the working folder") {
		t.Errorf("%d files; the agent was told %s", files, prompts(body)[len(prompts(body))-800:])
	}
	s.fake.Say(group, ada, "and the secrets")
	allowNext("Send .env to the chat")
	s.shows("The file was not sent: .env is closed")
	// The file changes between the call and the sending, which waits for the edit before it.
	release := held.hold()
	s.fake.Say(group, ada, "and the other one")
	allowNext("Send again.txt to the chat")
	for tick := time.NewTicker(10 * time.Millisecond); len(s.server.Bodies()) < 6; {
		<-tick.C
	}
	if err := os.WriteFile(filepath.Join(s.folder, "again.txt"), []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	release()
	s.shows("The file was not sent: it has changed since the agent sent it")
}

// heldEdits is a platform whose edits wait while they are held.
type heldEdits struct {
	*channeltest.Memory
	held atomic.Pointer[chan struct{}]
}

func (h *heldEdits) hold() (release func()) {
	gate := make(chan struct{})
	h.held.Store(&gate)
	return func() {
		h.held.Store(nil)
		close(gate)
	}
}

func (h *heldEdits) Edit(ctx context.Context, chatID, messageID string, m channel.Outgoing) error {
	if gate := h.held.Load(); gate != nil {
		select {
		case <-*gate:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return h.Memory.Edit(ctx, chatID, messageID, m)
}

// TestSendFileNeedsAChat offers the tool only where a chat may have files.
func TestSendFileNeedsAChat(t *testing.T) {
	s := newChatScene(t, map[string]string{"a.txt": "x"}, modeltest.Say("One."), modeltest.Say("Two."))
	s.open()
	s.pair(api.GrantView, api.GrantPrompt)
	s.fake.Say(group, ada, "hello")
	s.shows("One.")
	s.pair()
	s.fake.Say(group, ada, "hello again")
	s.shows("Two.")
	for n, want := range []bool{false, true} {
		if has := strings.Contains(s.asked(n+1), `"name":"send_file"`); has != want {
			t.Errorf("request %d offers send_file: %v", n+1, has)
		}
	}
}
