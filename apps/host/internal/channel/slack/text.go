package slack

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"github.com/scorel/scorel/apps/host/internal/channel"
)

func units(s channel.Segment) (n int) {
	for _, r := range s.Text {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}

// content is a message as rich text, with its buttons, and the text that notifications show.
func content(m channel.Outgoing) []slack.MsgOption {
	blocks := []slack.Block{slack.NewRichTextBlock("", elements(m.Text)...)}
	var buttons []slack.BlockElement
	for i, b := range m.Buttons {
		button := slack.NewButtonBlockElement(fmt.Sprint("b", i), b.Data, slack.NewTextBlockObject(slack.PlainTextType, cut(b.Label, maxLabel), false, false))
		if b.Risky {
			button.Style = slack.StyleDanger
		}
		buttons = append(buttons, button)
	}
	if len(buttons) > 0 {
		blocks = append(blocks, slack.NewActionBlock("", buttons...))
	}
	return []slack.MsgOption{slack.MsgOptionBlocks(blocks...), slack.MsgOptionText(cut(channel.String(m.Text), maxPlain), true)}
}

// cut returns the first characters of a text.
func cut(text string, limit int) string {
	n := 0
	for i := range text {
		if n == limit {
			return text[:i]
		}
		n++
	}
	return text
}

// elements are the sections and blocks of code of a text.
func elements(rich []channel.Segment) []slack.RichTextElement {
	var out []slack.RichTextElement
	var line []slack.RichTextSectionElement
	flush := func() {
		if len(line) > 0 {
			out = append(out, slack.NewRichTextSection(line...))
		}
		line = nil
	}
	for _, s := range rich {
		text := strings.ToValidUTF8(s.Text, "\uFFFD")
		if text == "" {
			continue
		}
		switch s.Kind {
		case channel.Block:
			flush()
			out = append(out, &slack.RichTextPreformatted{
				Type: slack.RTEPreformatted, Elements: []slack.RichTextSectionElement{slack.NewRichTextSectionTextElement(text, nil)},
			})
		case channel.Code:
			line = append(line, slack.NewRichTextSectionTextElement(text, &slack.RichTextSectionTextStyle{Code: true}))
		case channel.Bold:
			line = append(line, links(text, &slack.RichTextSectionTextStyle{Bold: true})...)
		default:
			line = append(line, links(text, nil)...)
		}
	}
	flush()
	return out
}

var link = regexp.MustCompile(`https?://[^\s<>"'()\[\]{}|\\^` + "`" + `]+`)

// links makes the addresses in a text clickable, which rich text does not do by itself.
func links(text string, style *slack.RichTextSectionTextStyle) []slack.RichTextSectionElement {
	var out []slack.RichTextSectionElement
	at := 0
	for _, m := range link.FindAllStringIndex(text, -1) {
		if m[0] > at {
			out = append(out, slack.NewRichTextSectionTextElement(text[at:m[0]], style))
		}
		out, at = append(out, slack.NewRichTextSectionLinkElement(text[m[0]:m[1]], "", style)), m[1]
	}
	if at < len(text) {
		out = append(out, slack.NewRichTextSectionTextElement(text[at:], style))
	}
	return out
}

var reference = regexp.MustCompile(`<([^<>]*)>`)

// plain is the text of a message as a person sees it: Slack writes addresses, people and channels
// as references, and three characters as entities.
func plain(text string) string {
	text = reference.ReplaceAllStringFunc(text, func(ref string) string {
		target, label, labeled := strings.Cut(ref[1:len(ref)-1], "|")
		switch {
		case strings.HasPrefix(target, "@"), strings.HasPrefix(target, "#"):
			if labeled && label != "" {
				return target[:1] + label
			}
			return target
		case strings.HasPrefix(target, "!"):
			if labeled && label != "" {
				return label
			}
			return "@" + target[1:]
		}
		return target
	})
	return html.UnescapeString(text)
}
