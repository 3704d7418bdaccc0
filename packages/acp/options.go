package acp

import "encoding/json"

// The categories of options.
const (
	CategoryMode         = "mode"
	CategoryModel        = "model"
	CategoryModelConfig  = "model_config"
	CategoryThoughtLevel = "thought_level"
)

// The types of options.
const (
	OptionSelect  = "select"
	OptionBoolean = "boolean"
)

// ConfigOption is a setting of a session that people can change.
type ConfigOption struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Category    string `json:"category,omitempty"`
	Type        string `json:"type"`
	// CurrentValue is a string of OptionSelect, and true or false of OptionBoolean.
	CurrentValue json.RawMessage `json:"currentValue,omitempty"`
	Options      json.RawMessage `json:"options,omitempty"` // see Choices
	Meta         Meta            `json:"_meta,omitempty"`

	// Raw is what the option was decoded from, which it is encoded as.
	Raw json.RawMessage `json:"-"`
}

// ConfigChoice is a value of an option.
type ConfigChoice struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Meta        Meta   `json:"_meta,omitempty"`

	// Group is the name of the group that the choice is in; it is encoded by Select.
	Group string `json:"-"`
}

// Select returns an option with choices in no groups.
func Select(id, name, category, current string, choices ...ConfigChoice) ConfigOption {
	value, _ := raw(current) // strings are always encodable
	encoded, _ := raw(choices)
	return ConfigOption{ID: id, Name: name, Category: category, Type: OptionSelect, CurrentValue: value, Options: encoded}
}

// Current returns the value of the option as text.
func (o ConfigOption) Current() string {
	var text string
	if json.Unmarshal(o.CurrentValue, &text) == nil {
		return text
	}
	return string(o.CurrentValue)
}

// Choices returns the values of the option; those of groups carry the name of their group.
func (o ConfigOption) Choices() []ConfigChoice {
	var items []struct {
		ConfigChoice
		GroupID string         `json:"group"`
		Options []ConfigChoice `json:"options"`
	}
	if json.Unmarshal(o.Options, &items) != nil {
		return nil
	}
	var choices []ConfigChoice
	for _, item := range items {
		if item.GroupID == "" {
			choices = append(choices, item.ConfigChoice)
			continue
		}
		for _, choice := range item.Options {
			choice.Group = item.Name
			choices = append(choices, choice)
		}
	}
	return choices
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *ConfigOption) UnmarshalJSON(data []byte) error {
	type plain ConfigOption
	return keep(data, (*plain)(o), &o.Raw)
}

// MarshalJSON implements json.Marshaler.
func (o ConfigOption) MarshalJSON() ([]byte, error) {
	type plain ConfigOption
	if o.Raw != nil {
		return o.Raw, nil
	}
	return raw(plain(o))
}

// SetConfigOptionRequest changes an option: Value is a string, or true or false with Type
// OptionBoolean.
type SetConfigOptionRequest struct {
	SessionID string          `json:"sessionId"`
	ConfigID  string          `json:"configId"`
	Type      string          `json:"type,omitempty"`
	Value     json.RawMessage `json:"value"`
	Meta      Meta            `json:"_meta,omitempty"`
}

// SetConfigOptionResponse has all options as they are after a change.
type SetConfigOptionResponse struct {
	ConfigOptions []ConfigOption `json:"configOptions"`
	Meta          Meta           `json:"_meta,omitempty"`
}
