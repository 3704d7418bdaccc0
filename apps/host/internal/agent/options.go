package agent

import (
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
// decides what runs without asking people. Modes are the vendors' own; these are the words in use.
func Decides(options []session.BackendOption) bool {
	for _, o := range options {
		if o.Category != OptionMode {
			continue
		}
		mode := strings.ToLower(strings.NewReplacer("_", "", "-", "", " ", "").Replace(o.Value))
		for _, word := range []string{"bypass", "yolo", "auto", "full", "dontask", "acceptedits", "agent", "build", "danger"} {
			if strings.Contains(mode, word) {
				return true
			}
		}
	}
	return false
}
