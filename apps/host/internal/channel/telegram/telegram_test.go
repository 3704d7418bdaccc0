package telegram_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/channel"
	"github.com/scorel/scorel/apps/host/internal/channel/channeltest"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram"
	"github.com/scorel/scorel/apps/host/internal/channel/telegram/telegramtest"
	"github.com/scorel/scorel/packages/leakcheck"
)

func TestMain(m *testing.M) { leakcheck.Main(m) }

func TestContract(t *testing.T) {
	channeltest.Run(t, func(t *testing.T) channeltest.Fake { return telegramtest.Start(t) })
}

// once is an Inbound that ends with the first update.
type once struct{ update channel.Update }

var errTaken = errors.New("taken")

func (*once) Connected() {}
func (o *once) Take(_ context.Context, u channel.Update) error {
	o.update = u
	return errTaken
}

func TestAddressed(t *testing.T) {
	group := channel.Chat{ID: "-10042/7", Title: "Team"}
	ada := channel.Sender{ID: "4711", Name: "Ada"}
	for text, want := range map[string]struct {
		text      string
		addressed bool
	}{
		"hello all":                    {"hello all", false},
		"/status":                      {"/status", true},
		"/new@scorel_bot a 👍 page":     {"/new a 👍 page", true},
		"/new@other_bot x":             {"/new@other_bot x", false},
		"@scorel_bot fix it":           {"fix it", true},
		"👍 please, @Scorel_Bot, do it": {"👍 please, @Scorel_Bot, do it", true},
	} {
		f := telegramtest.Start(t)
		m, _ := f.Message(group, ada)
		m["text"] = text
		var entities []map[string]any
		for i, word := range strings.Fields(text) {
			kind := "mention"
			if strings.HasPrefix(word, "/") && i == 0 {
				kind = "bot_command"
			} else if !strings.HasPrefix(word, "@") {
				continue
			}
			word = strings.TrimRight(word, ",")
			before, _, _ := strings.Cut(text, word)
			entities = append(entities, map[string]any{"type": kind, "offset": utf16Len(before), "length": utf16Len(word)})
		}
		m["entities"] = entities
		f.Add("message", m)
		in := &once{}
		if err := f.New(t, channeltest.Token).Run(t.Context(), nil, in); !errors.Is(err, errTaken) {
			t.Fatal(err)
		}
		got := in.update.Message
		if got == nil || got.Text != want.text || got.Addressed != want.addressed || got.Chat.ID != group.ID || got.Chat.Direct {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

func utf16Len(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func TestOptions(t *testing.T) {
	for _, o := range []telegram.Options{
		{Token: ""}, {Token: "777"}, {Token: "123:../../x"}, {Token: "123:a b"}, {Token: "x:abc"},
		{Token: "1:a", API: "http://example.com"}, {Token: "1:a", API: "ftp://127.0.0.1"}, {Token: "1:a", API: "https://u:p@example.com"},
	} {
		if _, err := telegram.New(o); err == nil || o.Token != "" && strings.Contains(err.Error(), o.Token) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
