package acp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scorel/scorel/packages/protocol/exactjson"
)

// wireUpdate is an update as it is written; the fields of all kinds are side by side.
type wireUpdate struct {
	Kind      string         `json:"sessionUpdate"`
	Content   *ContentBlock  `json:"content,omitempty"`
	MessageID string         `json:"messageId,omitempty"`
	Entries   []PlanEntry    `json:"entries,omitzero"`
	Commands  []Command      `json:"availableCommands,omitzero"`
	ModeID    string         `json:"currentModeId,omitempty"`
	Options   []ConfigOption `json:"configOptions,omitzero"`
	*InfoUpdate
	*Usage
	*Compaction
	Meta Meta `json:"_meta,omitempty"`
}

type wireTool struct {
	Kind string `json:"sessionUpdate"`
	ToolCall
}

type wireNotice struct {
	Kind string `json:"sessionUpdate"`
	Notice
	Meta Meta `json:"_meta,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler. It fails only for what is no object with a kind: an
// update that cannot be understood has Err.
func (u *Update) UnmarshalJSON(data []byte) error {
	var head struct {
		Kind string `json:"sessionUpdate"`
	}
	if err := exactjson.Unmarshal(data, &head); err != nil {
		return err
	}
	if head.Kind == "" {
		return errors.New("acp: an update has no sessionUpdate")
	}
	*u = Update{Kind: head.Kind, Raw: bytes.Clone(data)}
	if err := u.decode(data); err != nil {
		*u = Update{Kind: u.Kind, Raw: u.Raw, Err: err}
	}
	return nil
}

func (u *Update) decode(data []byte) error {
	switch u.Kind {
	case UpdateToolCall, UpdateToolChange:
		u.Tool = &ToolCall{}
		if err := exactjson.Unmarshal(data, u.Tool); err != nil {
			return err
		}
		u.Meta = u.Tool.Meta
		return required(u.Tool.ID != "", "toolCallId")
	case UpdateNotice:
		var w wireNotice
		if err := exactjson.Unmarshal(data, &w); err != nil {
			return err
		}
		u.Notice, u.Meta = &w.Notice, w.Meta
		return nil
	}
	return u.decodeFields(data)
}

func (u *Update) decodeFields(data []byte) error {
	w := wireUpdate{InfoUpdate: &InfoUpdate{}, Usage: &Usage{}, Compaction: &Compaction{}}
	if !u.known() {
		return nil
	}
	if err := exactjson.Unmarshal(data, &w); err != nil {
		return err
	}
	u.Meta = w.Meta
	switch u.Kind {
	case UpdateUserChunk, UpdateAgentChunk, UpdateThoughtChunk:
		u.Content, u.MessageID = w.Content, w.MessageID
		return required(w.Content != nil, "content")
	case UpdateSummaryChunk:
		u.Content, u.Compact = w.Content, w.Compaction
		return required(w.Content != nil && w.Compaction.ID != "", "content and compactionId")
	case UpdateCompaction:
		u.Compact = w.Compaction
		return required(w.Compaction.ID != "", "compactionId")
	case UpdatePlan:
		u.Plan = w.Entries
	case UpdateCommands:
		u.Commands = w.Commands
	case UpdateMode:
		u.ModeID = w.ModeID
	case UpdateOptions:
		u.Options = w.Options
	case UpdateSessionInfo:
		u.Info = w.InfoUpdate
	case UpdateUsage:
		u.Usage = w.Usage
	}
	return nil
}

// known reports whether the fields of the kind are known.
func (u *Update) known() bool {
	switch u.Kind {
	case UpdateUserChunk, UpdateAgentChunk, UpdateThoughtChunk, UpdateToolCall, UpdateToolChange, UpdatePlan,
		UpdateCommands, UpdateMode, UpdateOptions, UpdateSessionInfo, UpdateUsage, UpdateNotice, UpdateCompaction, UpdateSummaryChunk:
		return true
	}
	return false
}

// Known reports whether the fields of the update are set, so that it needs no Raw to be shown.
func (u *Update) Known() bool { return u.Err == nil && u.known() }

func required(there bool, name string) error {
	if !there {
		return fmt.Errorf("acp: the update lacks %s", name)
	}
	return nil
}

// MarshalJSON implements json.Marshaler.
func (u Update) MarshalJSON() ([]byte, error) {
	switch {
	case u.Raw != nil:
		return u.Raw, nil
	case u.Tool != nil:
		return raw(wireTool{u.Kind, *u.Tool})
	case u.Notice != nil:
		return raw(wireNotice{u.Kind, *u.Notice, u.Meta})
	}
	return raw(wireUpdate{
		Kind: u.Kind, Content: u.Content, MessageID: u.MessageID, Entries: u.Plan, Commands: u.Commands,
		ModeID: u.ModeID, Options: u.Options, InfoUpdate: u.Info, Usage: u.Usage, Compaction: u.Compact, Meta: u.Meta,
	})
}

var (
	_ json.Unmarshaler = (*Update)(nil)
	_ json.Marshaler   = Update{}
)
