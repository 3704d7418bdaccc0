package channeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

// Run checks that a platform keeps the contract. fresh returns a new fake.
func Run(t *testing.T, fresh func(t *testing.T) Fake) {
	for name, test := range map[string]func(*testing.T, Fake){
		"messages arrive in order":              inOrder,
		"an update is taken before it is acked": taken,
		"a new connection continues":            continues,
		"a repeated update keeps its id":        repeated,
		"presses":                               presses,
		"edits and deletions":                   edits,
		"files in":                              filesIn,
		"files out":                             filesOut,
		"hostile text stays text":               hostile,
		"markup":                                markup,
		"the longest message":                   longest,
		"long texts are split":                  split,
		"edits replace":                         edited,
		"a key sends once":                      once,
		"rate limits":                           limited,
		"the token":                             token,
		"a chat that is gone":                   gone,
		"ends with its context":                 ends,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func inOrder(t *testing.T, f Fake) {
	c := connect(t, f.New(t, Token), newInbox())
	var ids []string
	for n := range 20 {
		ids = append(ids, f.Say(room, person, fmt.Sprintf("line %d: 👩‍👩‍👧 שלום\n  second", n)))
	}
	updates := c.count(t, 20)
	seen := map[string]bool{}
	for n, u := range updates {
		m := u.Message
		if m == nil || !u.Valid() || seen[u.ID] {
			t.Fatalf("update %d: %+v", n, u)
		}
		seen[u.ID] = true
		if m.Text != fmt.Sprintf("line %d: 👩‍👩‍👧 שלום\n  second", n) || m.ID != ids[n] || m.Chat.ID != room.ID || m.From.ID != person.ID || !m.Chat.Direct || !m.Addressed {
			t.Errorf("message %d: %+v", n, *m)
		}
	}
}

func taken(t *testing.T, f Fake) {
	in := newInbox()
	c := connect(t, f.New(t, Token), in)
	in.fail(errors.New("the disk is full"))
	f.Say(room, person, "keep me")
	updates := c.count(t, 1)
	if in.refused != 1 || updates[0].Message.Text != "keep me" {
		t.Errorf("refused %d times, then %+v", in.refused, updates)
	}
}

func continues(t *testing.T, f Fake) {
	in := newInbox()
	p := f.New(t, Token)
	c := connect(t, p, in)
	f.Say(room, person, "one")
	c.distinct(t, 1)
	f.Break()
	f.Say(room, person, "two")
	c.distinct(t, 2)
	c.stop()
	f.Say(room, person, "three") // while the host is down
	c = connect(t, f.New(t, Token), in)
	c.distinct(t, 3)
	f.Say(room, person, "four")
	var texts []string
	for _, u := range c.distinct(t, 4) {
		texts = append(texts, u.Message.Text)
	}
	if !slices.Equal(texts, []string{"one", "two", "three", "four"}) {
		t.Errorf("after two connections: %q", texts)
	}
}

func repeated(t *testing.T, f Fake) {
	c := connect(t, f.New(t, Token), newInbox())
	f.Say(room, person, "once")
	first := c.count(t, 1)[0]
	if !f.Again() {
		return
	}
	if again := c.count(t, 2)[1]; again.ID != first.ID || again.Message == nil || again.Message.Text != "once" {
		t.Errorf("first %+v, again %+v", first, again)
	}
}

func presses(t *testing.T, f Fake) {
	p := f.New(t, Token)
	if !p.Limits().Buttons {
		return
	}
	c := connect(t, p, newInbox())
	data := strings.Repeat("x", channel.MaxData)
	buttons := []channel.Button{{Label: "Allow", Data: data}, {Label: "Deny", Data: "no", Risky: true}}
	id, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "k1", Text: channel.Text("May I?"), Buttons: buttons})
	if err != nil {
		t.Fatal(err)
	}
	shown := f.Shown(room)[0]
	if len(shown.Buttons) != 2 || shown.Buttons[0].Data != data || shown.Buttons[1].Label != "Deny" {
		t.Fatalf("shown: %+v", shown)
	}
	f.Press(room, person, id, data)
	u := c.count(t, 1)[0]
	if u.Press == nil || u.Press.Data != data || u.Press.MessageID != id || u.Press.From.ID != person.ID || u.Press.Chat.ID != room.ID || !u.Valid() {
		t.Fatalf("press: %+v", u)
	}
	if err := p.Answer(t.Context(), *u.Press, "Allowed."); err != nil {
		t.Error(err)
	}
}

func edits(t *testing.T, f Fake) {
	c := connect(t, f.New(t, Token), newInbox())
	id := f.Say(room, person, "first")
	c.count(t, 1)
	n := 1
	if f.Edit(room, id, "second") {
		n++
		u := c.count(t, n)[n-1]
		if u.Edited == nil || u.Edited.ID != id || u.Edited.Text != "second" || u.Edited.From.ID != person.ID || !u.Valid() {
			t.Errorf("edited: %+v", u)
		}
	}
	if f.Remove(room, id) {
		n++
		u := c.count(t, n)[n-1]
		if u.Deleted == nil || u.Deleted.ID != id || u.Deleted.Chat.ID != room.ID || !u.Valid() {
			t.Errorf("deleted: %+v", u)
		}
	}
}

func filesIn(t *testing.T, f Fake) {
	p := f.New(t, Token)
	if p.Limits().File == 0 {
		return
	}
	c := connect(t, p, newInbox())
	data := bytes.Repeat([]byte("0123456789abcdef"), channel.MaxFile/16)
	f.Attach(room, person, "look at this", "big file.bin", data)
	m := c.count(t, 1)[0].Message
	if m == nil || len(m.Files) != 1 || m.Text != "look at this" || m.Files[0].Name != "big file.bin" {
		t.Fatalf("message: %+v", m)
	}
	r, err := p.Fetch(t.Context(), m.Files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	got, err := io.ReadAll(r)
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("fetched %d bytes of %d: %v", len(got), len(data), err)
	}
}

func filesOut(t *testing.T, f Fake) {
	p := f.New(t, Token)
	limit := p.Limits().File
	if limit == 0 {
		return
	}
	data := bytes.Repeat([]byte("fedcba9876543210"), int(min(limit, channel.MaxFile))/16)
	whole := data
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	for n, name := range []string{"out.bin", "a \"quoted\"\r\nX: name ü.txt"} {
		if n > 0 { // one file of the largest size is enough
			data = data[:1000]
		}
		up := &channel.Upload{Name: name, MIME: "application/octet-stream", Size: int64(len(data)), Open: open}
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: fmt.Sprint("f", n), File: up}); err != nil {
			t.Fatal(err)
		}
	}
	shown := f.Shown(room)
	if len(shown) != 2 || shown[0].FileName != "out.bin" || !bytes.Equal(shown[0].File, whole) || !bytes.Equal(shown[1].File, data) {
		t.Errorf("%d messages", len(shown))
	}
}

// Hostile are texts that mean something in the markup of some platform.
func Hostile() []string {
	return []string{
		"<b>bold</b> & <script>", "*a* _b_ ~c~ ||d|| [x](https://example.com)", "@everyone @here <@123> <!channel> <#C1>",
		"\\* \\_ \\\\ \\", "a\\`b", "> quote\n# head\n-# small\n- item\n1. one", "https://example.com/?a=1&b=2", "tg://user?id=1", "``` not closed",
		"\u202ereversed\u202c שלום 👩\u200d👩\u200d👧\u200d👦🏳️\u200d🌈 e\u0301", "&lt;not a tag&gt; &amp;", ":smile: <t:0:R> </cmd:1>", "a_b_c *d\n*e", "$&+,/:;=?@#|'<>.^*()%!-{}",
	}
}

func hostile(t *testing.T, f Fake) {
	p := f.New(t, Token)
	for n, text := range Hostile() {
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: fmt.Sprint("h", n), Text: channel.Text(text)}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	}
	for n, shown := range f.Shown(room) {
		if shown.Text != Hostile()[n] || len(shown.Code)+len(shown.Bold) > 0 {
			t.Errorf("%q is shown as %+v", Hostile()[n], shown)
		}
	}
}

func markup(t *testing.T, f Fake) {
	p := f.New(t, Token)
	for n, text := range Hostile() {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "`", "'"), "\n", " ")
		rich := []channel.Segment{{Text: "Do "}, {Kind: channel.Code, Text: text}, {Text: " now:"}, {Kind: channel.Block, Text: text + "\n\tx", Lang: "go"}, {Text: "done"}}
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: fmt.Sprint("m", n), Text: rich}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		shown := f.Shown(room)[n]
		if len(shown.Code) > 0 && !slices.Equal(shown.Code, []string{text, text + "\n\tx"}) {
			t.Errorf("the code %q is shown as %q", text, shown.Code)
		}
		if !strings.Contains(shown.Text, text) || !strings.Contains(shown.Text, "done") {
			t.Errorf("%q is shown as %q", text, shown.Text)
		}
	}
}

func longest(t *testing.T, f Fake) {
	p := f.New(t, Token)
	limits := p.Limits()
	for n, letter := range []string{"a", "é", "👍", "<", "*", "שׁ"} {
		text := channel.Text(strings.Repeat(letter, limits.Text/max(1, limits.Units(channel.Segment{Text: letter}))))
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: fmt.Sprint("l", n), Text: text}); err != nil {
			t.Errorf("%d units of %q: %v", limits.Units(text[0]), letter, err)
		}
	}
	_, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "over", Text: channel.Text(strings.Repeat("a", 2*limits.Text+1))})
	if !errors.Is(err, channel.ErrRejected) {
		t.Errorf("a text over the limit: %v", err)
	}
}

func split(t *testing.T, f Fake) {
	p := f.New(t, Token)
	limits := p.Limits()
	var source strings.Builder
	source.WriteString("Before & after <b>:\n\n```go\n")
	var want []string
	for n := 0; limits.Units(channel.Segment{Text: source.String()}) < 3*limits.Text; n++ {
		line := fmt.Sprintf("line%d := \"<👩‍👩‍👧> & *שלום*\"", n)
		want = append(want, line)
		source.WriteString(line + "\n")
	}
	source.WriteString("```\nThe end.")
	parts := channel.Split(channel.ParseMarkdown(source.String()), limits)
	for n, part := range parts {
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: fmt.Sprint("s", n), Text: part}); err != nil {
			t.Fatalf("part %d: %v", n, err)
		}
	}
	var got []string
	for _, shown := range f.Shown(room) {
		for line := range strings.Lines(shown.Text) {
			if strings.HasPrefix(line, "line") {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
		}
	}
	if len(parts) < 3 || !slices.Equal(got, want) {
		t.Errorf("%d parts show %d of %d lines", len(parts), len(got), len(want))
	}
}

func edited(t *testing.T, f Fake) {
	p := f.New(t, Token)
	if !p.Limits().Edits {
		return
	}
	id, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "e1", Text: channel.Text("draft"), Buttons: []channel.Button{{Label: "Yes", Data: "y"}}})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time, nothing changes
		if err := p.Edit(t.Context(), room.ID, id, channel.Outgoing{Text: channel.Text("final <&>")}); err != nil {
			t.Fatal(err)
		}
	}
	if shown := f.Shown(room); len(shown) != 1 || shown[0].Text != "final <&>" || len(shown[0].Buttons) != 0 {
		t.Errorf("shown: %+v", shown)
	}
	f.Withdraw(room, id)
	if err := p.Edit(t.Context(), room.ID, id, channel.Outgoing{Text: channel.Text("again")}); !errors.Is(err, channel.ErrMessageGone) {
		t.Errorf("editing a deleted message: %v", err)
	}
}

func once(t *testing.T, f Fake) {
	p := f.New(t, Token)
	if !p.Limits().Idempotent {
		return
	}
	for range 2 {
		if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "same", Text: channel.Text("once")}); err != nil {
			t.Fatal(err)
		}
	}
	if shown := f.Shown(room); len(shown) != 1 {
		t.Errorf("shown: %+v", shown)
	}
}

func limited(t *testing.T, f Fake) {
	p := f.New(t, Token)
	f.Limit(7 * time.Second)
	_, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "r1", Text: channel.Text("hello")})
	var limit *channel.RateLimited
	if !errors.As(err, &limit) || limit.After < 7*time.Second || limit.After > 8*time.Second {
		t.Fatalf("the error is %v", err)
	}
	if shown := f.Shown(room); len(shown) != 0 {
		t.Errorf("shown: %+v", shown)
	}
}

func token(t *testing.T, f Fake) {
	if who, err := f.New(t, Token).Check(t.Context()); err != nil || who.ID == "" || who.Name == "" {
		t.Errorf("the bot is %+v, %v", who, err)
	}
	const wrong = "123456:WRONG-token"
	p := f.New(t, wrong)
	_, err := p.Check(t.Context())
	runErr := p.Run(t.Context(), nil, newInbox())
	_, sendErr := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "t1", Text: channel.Text("x")})
	for _, err := range []error{err, runErr, sendErr} {
		if !errors.Is(err, channel.ErrUnauthorized) || strings.Contains(err.Error(), wrong) {
			t.Errorf("with a wrong token: %v", err)
		}
	}
}

func gone(t *testing.T, f Fake) {
	p := f.New(t, Token)
	f.Leave(room)
	if _, err := p.Send(t.Context(), room.ID, channel.Outgoing{Key: "g1", Text: channel.Text("x")}); !errors.Is(err, channel.ErrChatGone) {
		t.Errorf("in a chat that the bot has left: %v", err)
	}
}

func ends(t *testing.T, f Fake) {
	connect(t, f.New(t, Token), newInbox()).stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.New(t, Token).Send(ctx, room.ID, channel.Outgoing{Key: "c1", Text: channel.Text("x")}); err == nil {
		t.Error("sending with an ended context succeeded")
	}
}
