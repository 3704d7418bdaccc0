package channel_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/rivo/uniseg"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

func utf16Units(s channel.Segment) int {
	n := len(utf16.Encode([]rune(s.Text)))
	if s.Kind == channel.Block {
		n += 10
	}
	return n
}

func sizeOf(rich []channel.Segment) (n int) {
	for _, s := range rich {
		n += utf16Units(s)
	}
	return n
}

// TestSplitLosesNothing splits random texts and checks every limit, that no grapheme is
// divided and that all words arrive in order.
func TestSplitLosesNothing(t *testing.T) {
	words := []string{"word", "👩‍👩‍👧‍👦", "שלום", "e\u0301e\u0301", "🏳️‍🌈🇩🇪", strings.Repeat("long", 40), "\n", "\n\n", "مرحبا", "x"}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		limits := channel.Limits{Text: 40 + random.IntN(200), Units: utf16Units}
		var rich []channel.Segment
		for range 1 + random.IntN(12) {
			var text strings.Builder
			for range 1 + random.IntN(40) {
				text.WriteString(words[random.IntN(len(words))] + " ")
			}
			rich = append(rich, channel.Segment{Kind: channel.Kind(random.IntN(4)), Text: text.String()})
		}
		var got strings.Builder
		whole := map[string]bool{}
		for _, s := range rich {
			for g := uniseg.NewGraphemes(s.Text); g.Next(); {
				whole[g.Str()] = true
			}
		}
		for _, part := range channel.Split(rich, limits) {
			if sizeOf(part) > limits.Text {
				t.Fatalf("run %d: a part of %d units, the limit is %d", n, sizeOf(part), limits.Text)
			}
			for _, s := range part {
				got.WriteString(s.Text)
				for g := uniseg.NewGraphemes(s.Text); g.Next(); {
					if !whole[g.Str()] {
						t.Fatalf("run %d: the grapheme %+q was made by splitting", n, g.Str())
					}
				}
			}
		}
		if bare(got.String()) != bare(channel.String(rich)) {
			t.Fatalf("run %d: something was lost:\n%q\n%q", n, bare(got.String()), bare(channel.String(rich)))
		}
	}
}

func bare(text string) string { return strings.Join(strings.Fields(text), "") }

func TestSplitOneHugeGrapheme(t *testing.T) {
	limits := channel.Limits{Text: 50, Units: utf16Units}
	parts := channel.Split(channel.Text("a"+strings.Repeat("\u0301", 100_000)+"b"), limits)
	if len(parts) != 1 || channel.String(parts[0]) != "…b" {
		t.Errorf("%d parts: %+v", len(parts), parts[:1])
	}
}

func TestSplitKeepsBlocks(t *testing.T) {
	limits := channel.Limits{Text: 60, Units: utf16Units}
	text := "Intro\n```go\n" + strings.Repeat("a := 1\n\n", 12) + "```\nend"
	parts := channel.Split(channel.ParseMarkdown(text), limits)
	blocks := 0
	for _, part := range parts {
		for _, s := range part {
			if strings.Contains(s.Text, ":=") && (s.Kind != channel.Block || s.Lang != "go") {
				t.Errorf("code outside a block: %+v", s)
			}
			if s.Kind == channel.Block {
				blocks++
			}
		}
	}
	if blocks < 3 {
		t.Errorf("%d blocks in %d parts", blocks, len(parts))
	}
	if parts := channel.Split(channel.Text(" \n "), limits); len(parts) != 0 {
		t.Errorf("a blank text is %d messages", len(parts))
	}
}

func TestParseMarkdown(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                       `[plain]`,
		"a **b** `c` d":               `[a ]B[b][ ]C[c][ d]`,
		"# Title\ntext # no":          `B[Title][` + "\n" + `text # no]`,
		"x\n```go\na := `b`\n```\ny":  "[x]P(go)[a := `b`][y]",
		"```\nnever closed":           `P()[never closed]`,
		"~~~\n```\n~~~":               "P()[```]",
		"````\n```\nin\n```\n````":    "P()[```\nin\n```]",
		"``a ` b``":                   "C[a ` b]",
		"** not ** bold ** here":      `[** not ** bold ** here]`,
		"snake_case_name and 2*3*4":   `[snake_case_name and 2*3*4]`,
		"`":                           "[`]",
		"a ``` b":                     "[a ][```][ b]",
		"\u0000\xff":                  "[\u0000\uFFFD]",
		"```\"><script> x\ncode\n```": `P()[code]`,
		"1\r\n2":                      "[1\n2]",
		"** `x` **":                   "[** ]C[x][ **]",
	} {
		var got strings.Builder
		for _, s := range channel.ParseMarkdown(text) {
			switch s.Kind {
			case channel.Bold:
				got.WriteString("B")
			case channel.Code:
				got.WriteString("C")
			case channel.Block:
				fmt.Fprintf(&got, "P(%s)", s.Lang)
			}
			got.WriteString("[" + s.Text + "]")
		}
		if got.String() != want {
			t.Errorf("%q is %q, want %q", text, got.String(), want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a **b** ```\nc\n``` `d`\n# e")
	f.Fuzz(func(t *testing.T, text string) {
		limits := channel.Limits{Text: 30, Units: utf16Units}
		for _, part := range channel.Split(channel.ParseMarkdown(text), limits) {
			if sizeOf(part) > limits.Text || strings.TrimSpace(channel.String(part)) == "" {
				t.Errorf("%q has a part %+v", text, part)
			}
		}
	})
}

func TestClean(t *testing.T) {
	m := channel.Message{Chat: channel.Chat{Title: "a\n\u202eb\x1b[31m"}, From: channel.Sender{Name: strings.Repeat("é", 100)}, Text: strings.Repeat("x", channel.MaxText+5)}
	m.Files = make([]channel.File, 30)
	m.Clean()
	if m.Chat.Title != "a b[31m" || len(m.From.Name) != channel.MaxName || len(m.Text) != channel.MaxText || len(m.Files) != channel.MaxFiles {
		t.Errorf("%q %d %d %d", m.Chat.Title, len(m.From.Name), len(m.Text), len(m.Files))
	}
	long := channel.Update{ID: "u", Message: &channel.Message{Chat: channel.Chat{ID: strings.Repeat("c", channel.MaxID+1)}, ID: "m", From: channel.Sender{ID: "s"}}}
	if long.Valid() {
		t.Error("an id that is too long is valid")
	}
}

func TestRedact(t *testing.T) {
	err := channel.Redact(fmt.Errorf("get /botS3CRET/x: %w", &channel.RateLimited{After: 5}), "S3CRET")
	var limited *channel.RateLimited
	if strings.Contains(err.Error(), "S3CRET") || !errors.As(err, &limited) {
		t.Errorf("%v", err)
	}
	if err := channel.Redact(fmt.Errorf("S3CRET: %w", channel.ErrChatGone), "S3CRET"); !errors.Is(err, channel.ErrChatGone) {
		t.Errorf("%v", err)
	}
}
