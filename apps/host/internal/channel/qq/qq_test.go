package qq_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/qq"
	"github.com/scorel/scorel/apps/host/internal/channel/qq/qqtest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake { return qqtest.Start(t) })
}

// run returns the next update of a platform that uses the fake, and the cursor after it.
func run(t *testing.T, f *qqtest.Fake, cursor []byte, do func()) (channel.Update, []byte) {
	t.Helper()
	return channeltest.Next(t, f.New(t, channeltest.Token), cursor, do)
}

var ada = channel.Sender{ID: "A1"}

// TestAnswers: a repeated answer is recognized, and too many are refused with a reason.
func TestAnswers(t *testing.T) {
	f := qqtest.Start(t)
	room := channel.Chat{ID: "A1", Direct: true}
	p := f.New(t, channeltest.Token)
	for _, key := range []string{"1", "1", "2", "3", "4", "5"} {
		if id, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: key, Text: channel.Text(key), ReplyTo: "ROBOT1.0_7"}); err != nil || id == "" {
			t.Errorf("answer %s: %q, %v", key, id, err)
		}
	}
	if shown := f.Shown(room); len(shown) != 5 {
		t.Errorf("%d answers are shown", len(shown))
	}
	if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "6", Text: channel.Text("6"), ReplyTo: "ROBOT1.0_7"}); !errors.Is(err, channel.ErrRejected) {
		t.Errorf("the sixth answer: %v", err)
	}
	if f.Tokens != 1 {
		t.Errorf("%d tokens were asked for", f.Tokens)
	}
}

// TestGroups: what mentions the bot arrives, and only images can be sent.
func TestGroups(t *testing.T) {
	f := qqtest.Start(t)
	room := channel.Chat{ID: "group/G1"}
	u, _ := run(t, f, nil, func() { f.Say(room, ada, "fix it") })
	if m := u.Message; m == nil || m.Chat != room || m.Text != "fix it" || m.From != ada || !m.Addressed {
		t.Fatalf("update: %+v", m)
	}
	p := f.New(t, channeltest.Token)
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader([]byte("data"))), nil }
	for mime, want := range map[string]error{"image/png": nil, "application/pdf": channel.ErrRejected} {
		_, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: mime, File: &channel.Upload{Name: "a", MIME: mime, Size: 4, Open: open}})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", mime, err)
		}
	}
}

// TestALostSession: a new session begins when QQ no longer continues the old one.
func TestALostSession(t *testing.T) {
	f := qqtest.Start(t)
	room := channel.Chat{ID: "A1", Direct: true}
	_, cursor := run(t, f, nil, func() { f.Say(room, ada, "one") })
	f.Gate.Forget()
	if u, _ := run(t, f, cursor, func() { f.Say(room, ada, "two") }); u.Message == nil || u.Message.Text != "two" {
		t.Errorf("update: %+v", u)
	}
}

// TestFilesOfOtherHosts: a file is read from QQ's hosts only.
func TestFilesOfOtherHosts(t *testing.T) {
	p := qqtest.Start(t).New(t, channeltest.Token)
	for _, ref := range []string{"", "http://multimedia.nt.qq.com.cn/x", "https://127.0.0.1/x", "https://qq.com.example.com/x", "file:///etc/passwd"} {
		if _, err := p.Fetch(t.Context(), channel.File{Ref: ref}); !errors.Is(err, channel.ErrRejected) {
			t.Errorf("%q: %v", ref, err)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []qq.Options{{}, {AppID: "x", Secret: "y"}, {AppID: "1"}, {AppID: "1", Secret: "a b"}, {AppID: "1", Secret: "x", API: "http://example.com"}} {
		if _, err := qq.New(o); err == nil {
			t.Errorf("%+v was accepted", o)
		}
	}
}
