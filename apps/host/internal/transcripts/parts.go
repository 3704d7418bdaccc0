package transcripts

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/scorel/scorel/apps/host/internal/picture"
	"github.com/scorel/scorel/packages/protocol/session"
)

// imageBlock returns an image, or a text in its place if it is none that a session can hold.
func imageBlock(mediaType, data string) session.Block {
	block, err := picture.CheckBase64(data)
	if err != nil {
		return session.Text(fmt.Sprintf("[image %s, %d bytes in base64, not imported]", mediaType, len(data)))
	}
	return block
}

// dataURL splits a data: URL with base64.
func dataURL(url string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	head, data, ok := strings.Cut(rest, ",")
	mediaType, base64 := strings.CutSuffix(head, ";base64")
	return mediaType, data, ok && base64
}

// crew records which subagent worked for a call.
func (b *builder) crew(at time.Time, callID, childID, agent, title string) error {
	entry := ""
	for id := b.leaf; id != "" && entry == ""; {
		item := b.items[b.byID[id]]
		if item.Message != nil && item.Message.Role == session.RoleAssistant {
			for _, block := range item.Message.Content {
				if block.Type == session.BlockToolCall && block.ID == callID {
					entry = item.ID
				}
			}
		}
		id = item.Parent
	}
	if entry == "" {
		return nil
	}
	member := session.SubagentMember{
		SessionID: SessionID(b.source, childID), Agent: first(agent, "subagent"), Title: first(titleOf(title), "Subagent"), State: session.ChildCompleted,
	}
	if !at.IsZero() {
		member.EndedAt = at.UnixMilli()
	}
	return b.custom(at, session.CustomSubagents, session.SubagentRecord{EntryID: entry, ToolCallID: callID, Members: []session.SubagentMember{member}})
}

// diff builds a unified diff of one file.
type diff struct {
	path    string
	created bool
	text    strings.Builder
}

func (d *diff) head() {
	if d.text.Len() > 0 {
		return
	}
	before := "a/" + strings.TrimPrefix(d.path, "/")
	if d.created {
		before = "/dev/null"
	}
	fmt.Fprintf(&d.text, "--- %s\n+++ b/%s\n", before, strings.TrimPrefix(d.path, "/"))
}

func (d *diff) hunk(oldStart, oldLines, newStart, newLines int, lines []string) {
	d.head()
	fmt.Fprintf(&d.text, "@@ -%d,%d +%d,%d @@\n", oldStart, oldLines, newStart, newLines)
	for _, line := range lines {
		d.text.WriteString(strings.TrimSuffix(line, "\n"))
		d.text.WriteByte('\n')
	}
}

// all adds a whole new file.
func (d *diff) all(content string) {
	if content == "" {
		return
	}
	lines := strings.Split(strings.TrimSuffix(content, "\n"), "\n")
	for i := range lines {
		lines[i] = "+" + lines[i]
	}
	d.hunk(0, 0, 1, len(lines), lines)
}

// details returns the diff as details of a result; nil if it is empty.
func (d *diff) details() json.RawMessage { return diffDetails(d.text.String()) }

func diffDetails(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	raw, err := session.Encode(map[string]string{"diff": text})
	if err != nil {
		return nil
	}
	return raw
}
