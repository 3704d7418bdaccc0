package agent

import (
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/session"
)

// The categories of options of other programs that are known, as the Agent Client Protocol names
// them.
const (
	OptionMode         = "mode"
	OptionModel        = "model"
	OptionModelConfig  = "model_config"
	OptionThoughtLevel = "thought_level"
)

// Decides reports whether another program's mode is one in which it, or a model that it asks,
// decides what runs without asking people.
func Decides(options []session.BackendOption) bool {
	return slices.ContainsFunc(options, func(o session.BackendOption) bool { return o.Category == OptionMode && DecidesIn(o.Value) })
}

// DecidesIn is Decides for the id of a mode. Modes are the vendors' own; these are the words in use.
func DecidesIn(mode string) bool {
	mode = strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(mode))
	return slices.ContainsFunc([]string{"bypass", "yolo", "auto", "full", "dontask", "acceptedits", "agent", "build", "danger"},
		func(word string) bool { return strings.Contains(mode, word) })
}

// Harmless reports whether options of a category change nothing about what a program asks for.
func Harmless(category string) bool {
	return category == OptionModel || category == OptionModelConfig || category == OptionThoughtLevel
}
