package transcripts

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

func (c *codex) event(at time.Time, raw json.RawMessage) error {
	var e struct {
		Type   string `json:"type"`
		CallID string `json:"call_id"`
		Turns  int    `json:"num_turns"`
		Info   *struct {
			Last json.RawMessage `json:"last_token_usage"`
		} `json:"info"`
	}
	if exactjson.Unmarshal(raw, &e) != nil {
		c.report.Damaged++
		return nil
	}
	switch {
	case e.Type == "token_count" && e.Info != nil && !c.byUsage:
		return c.usage(e.Info.Last, "")
	case e.Type == "patch_apply_end":
		c.patched(e.CallID, raw)
		return nil
	case e.Type == "thread_rolled_back":
		if err := c.flush(); err != nil {
			return err
		}
		c.rewind(e.Turns)
		return nil
	case e.Type == "turn_aborted":
		if err := c.flush(); err != nil {
			return err
		}
		if m := c.lastAssistant(); m != nil && len(c.open) == 0 && m.StopReason != session.StopToolUse {
			m.StopReason = session.StopAborted
		}
		c.report.Omitted++
		return nil
	case codexOmitted[e.Type]:
		c.report.Omitted++
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.foreign(at, "event."+e.Type, raw)
}

// usage sets the usage of the last message of the model, if it has none.
func (c *codex) usage(raw json.RawMessage, member string) error {
	if err := c.flush(); err != nil {
		return err
	}
	if member != "" {
		var fields map[string]json.RawMessage
		if exactjson.Unmarshal(raw, &fields) == nil {
			raw = fields[member]
		}
	}
	var u struct {
		Input      int `json:"input_tokens"`
		Cached     int `json:"cached_input_tokens"`
		CacheWrite int `json:"cache_write_input_tokens"`
		Output     int `json:"output_tokens"`
		Total      int `json:"total_tokens"`
	}
	m := c.lastAssistant()
	if m == nil || len(raw) == 0 || exactjson.Unmarshal(raw, &u) != nil || *m.Usage != (session.Usage{}) {
		return nil
	}
	m.Usage = &session.Usage{Input: max(u.Input-u.Cached, 0), CacheRead: u.Cached, CacheWrite: u.CacheWrite, Output: u.Output, TotalTokens: u.Total}
	return nil
}

// patched keeps the change of a call as a diff.
func (c *codex) patched(callID string, raw json.RawMessage) {
	var e struct {
		Changes map[string]struct {
			Type    string `json:"type"`
			Diff    string `json:"unified_diff"`
			Content string `json:"content"`
		} `json:"changes"`
	}
	if exactjson.Unmarshal(raw, &e) != nil {
		return
	}
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(e.Changes)) {
		change := e.Changes[path]
		d := diff{path: path, created: change.Type == "add"}
		if d.created {
			d.all(change.Content)
		} else if change.Diff != "" {
			d.head()
			d.text.WriteString(strings.TrimSuffix(change.Diff, "\n") + "\n")
		}
		text.WriteString(d.text.String())
	}
	details := bounded(diffDetails(text.String()))
	if at, done := c.where[callID]; done {
		c.items[at].Message.Details = details
	} else if details != nil && len(c.diffs) < maxChildren {
		c.diffs[callID] = details
	}
}

// compacted adds the summary with which Codex replaced what came before.
func (c *codex) compacted(at time.Time, raw json.RawMessage) error {
	if err := c.flush(); err != nil {
		return err
	}
	var e struct {
		Message string `json:"message"`
	}
	if exactjson.Unmarshal(raw, &e) != nil || e.Message == "" {
		return c.foreign(at, "compacted", raw)
	}
	return c.summary(at, e.Message)
}
