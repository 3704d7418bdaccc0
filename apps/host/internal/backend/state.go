package backend

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/exactjson"
	"github.com/scorel/scorel/packages/protocol/session"
)

// state takes an update of the session's state.
func (t *transcript) state(ctx context.Context, u *acp.Update) error {
	switch u.Kind {
	case acp.UpdateCommands:
		return t.commands(ctx, u.Commands)
	case acp.UpdateMode:
		options := slices.Clone(t.kept.Options.Options)
		for i := range options {
			if options[i].Category == acp.CategoryMode {
				options[i].Value = u.ModeID
			}
		}
		return t.options(ctx, options)
	case acp.UpdateOptions:
		return t.options(ctx, t.withOlder(stateOptions(acp.SessionState{ConfigOptions: u.Options})))
	case acp.UpdateSessionInfo:
		if u.Info.Title != nil && strings.TrimSpace(*u.Info.Title) != "" {
			return t.keeper.Title(ctx, clip(*u.Info.Title, 200))
		}
	case acp.UpdateNotice:
		return t.record(ctx, session.BackendRecord{
			Kind: session.BackendNotice, Severity: clip(u.Notice.Severity, 32), Title: clip(u.Notice.Title, 4096), Text: clip(u.Notice.Description, MaxRecord),
		})
	case acp.UpdateCompaction, acp.UpdateSummaryChunk:
		return t.compaction(ctx, u)
	}
	return nil
}

// compaction keeps the end of a compaction, with the summary that its chunks made.
func (t *transcript) compaction(ctx context.Context, u *acp.Update) error {
	id := u.Compact.ID
	if u.Kind == acp.UpdateSummaryChunk {
		text, _ := textOf(*u.Content)
		if len(t.summary) < 16 && len(t.summary[id])+len(text) <= MaxRecord {
			t.summary[id] += text
		}
		return t.spend(len(text))
	}
	text := t.summary[id]
	if len(u.Compact.Summary) > 0 {
		text = ""
		for _, block := range u.Compact.Summary {
			part, _ := textOf(block)
			text += part
		}
	}
	if u.Compact.Error != "" {
		text = u.Compact.Error
	}
	return t.record(ctx, session.BackendRecord{Kind: session.BackendCompaction, Title: clip(u.Compact.Status, 32), Text: clip(text, MaxRecord)})
}

const (
	maxOptions = 64
	maxValues  = 256
)

// options keeps the modes and options after a change.
func (t *transcript) options(ctx context.Context, options []session.BackendOption) error {
	record := session.BackendRecord{Kind: session.BackendOptions, Options: options, Decides: agent.Decides(options)}
	t.model = currentModel(record)
	if len(options) == 0 && len(t.kept.Options.Options) == 0 || reflect.DeepEqual(options, t.kept.Options.Options) {
		return nil
	}
	t.kept.Options = record
	return t.record(ctx, record)
}

// withOlder adds the modes and models of agents that have no options for them, which an update of
// the options does not repeat.
func (t *transcript) withOlder(options []session.BackendOption) []session.BackendOption {
	for _, kept := range t.kept.Options.Options {
		same := func(o session.BackendOption) bool { return o.Category == kept.Category }
		if (kept.ID == modelOption || kept.ID == modeOption) && !slices.ContainsFunc(options, same) {
			options = append(options, kept)
		}
	}
	return options
}

// stateOptions returns the options of a session; the modes of older agents are one of them.
func stateOptions(state acp.SessionState) []session.BackendOption {
	var options []session.BackendOption
	for _, o := range state.ConfigOptions[:min(len(state.ConfigOptions), maxOptions)] {
		option := session.BackendOption{ID: clip(o.ID, 256), Name: clip(o.Name, 256), Category: clip(o.Category, 64), Value: clip(o.Current(), 256)}
		choices := o.Choices()
		if o.Type == acp.OptionBoolean {
			choices = []acp.ConfigChoice{{Value: "true", Name: "on"}, {Value: "false", Name: "off"}}
		}
		for _, c := range choices[:min(len(choices), maxValues)] {
			option.Choices = append(option.Choices, session.BackendChoice{Value: clip(c.Value, 256), Name: clip(c.Name, 256), Description: clip(c.Description, 1024)})
		}
		options = append(options, option)
	}
	has := func(category string) bool {
		return slices.ContainsFunc(options, func(o session.BackendOption) bool { return o.Category == category })
	}
	if state.Models != nil && !has(acp.CategoryModel) {
		option := session.BackendOption{ID: modelOption, Name: "Model", Category: acp.CategoryModel, Value: clip(state.Models.CurrentModelID, 256)}
		for _, m := range state.Models.AvailableModels[:min(len(state.Models.AvailableModels), maxValues)] {
			option.Choices = append(option.Choices, session.BackendChoice{Value: clip(m.ID, 256), Name: clip(m.Name, 256), Description: clip(m.Description, 1024)})
		}
		options = append(options, option)
	}
	if state.Modes != nil && !has(acp.CategoryMode) {
		option := session.BackendOption{ID: modeOption, Name: "Mode", Category: acp.CategoryMode, Value: clip(state.Modes.CurrentModeID, 256)}
		for _, m := range state.Modes.AvailableModes[:min(len(state.Modes.AvailableModes), maxValues)] {
			option.Choices = append(option.Choices, session.BackendChoice{Value: clip(m.ID, 256), Name: clip(m.Name, 256), Description: clip(m.Description, 1024)})
		}
		options = append(options, option)
	}
	return options
}

func currentModel(record session.BackendRecord) string {
	for _, o := range record.Options {
		if o.Category == acp.CategoryModel {
			return o.Value
		}
	}
	return ""
}

// commands keeps the commands after a change.
func (t *transcript) commands(ctx context.Context, all []acp.Command) error {
	var commands []session.BackendCommand
	for _, c := range all[:min(len(all), maxValues)] {
		command := session.BackendCommand{Name: clip(c.Name, 256), Description: clip(c.Description, 1024)}
		if c.Input != nil {
			command.Hint = clip(c.Input.Hint, 256)
		}
		commands = append(commands, command)
	}
	if reflect.DeepEqual(commands, t.kept.Commands.Commands) {
		return nil
	}
	record := session.BackendRecord{Kind: session.BackendCommands, Commands: commands}
	t.kept.Commands = record
	return t.record(ctx, record)
}

// unknown keeps an update that this host does not know.
func (t *transcript) unknown(ctx context.Context, kind string, raw json.RawMessage) error {
	if err := t.spend(len(raw)); err != nil {
		return err
	}
	record := session.BackendRecord{Kind: session.BackendUpdate, Title: clip(kind, 256)}
	if len(raw) > MaxRecord || !json.Valid(raw) || exactjson.DeeperThan(raw, exactjson.MaxDepth-8) {
		record.Text = clip(string(raw), MaxRecord)
	} else {
		record.Update = raw
	}
	return t.record(ctx, record)
}

// record stores a record. The last one that a turn may store says that more came.
func (t *transcript) record(ctx context.Context, record session.BackendRecord) error {
	t.records++
	switch {
	case t.records == MaxRecords:
		record = session.BackendRecord{Kind: session.BackendNotice, Severity: "warning", Title: fmt.Sprintf(
			"The agent sent more than %d notices and updates in this turn. Further ones are not kept.", MaxRecords)}
	case t.records > MaxRecords:
		return nil
	}
	return t.keeper.Keep(context.WithoutCancel(ctx), record)
}
