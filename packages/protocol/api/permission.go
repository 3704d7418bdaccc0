package api

import "strings"

// Mode determines how much an agent may do in a session without asking. Rules and
// the minimum checks apply in every mode.
type Mode string

const (
	// ModePlan allows reading only.
	ModePlan Mode = "plan"
	// ModeAsk asks for every change that no rule allows.
	ModeAsk Mode = "ask"
	// ModeAcceptEdits allows changes to files of the project and asks for
	// everything else.
	ModeAcceptEdits Mode = "accept-edits"
	// ModeAuto asks only for risky calls.
	ModeAuto Mode = "auto"
	// ModeBypass asks only for commands that cannot be analyzed.
	ModeBypass Mode = "bypass"
)

// Modes lists the modes from the strictest; each allows everything that earlier
// ones allow.
func Modes() []Mode { return []Mode{ModePlan, ModeAsk, ModeAcceptEdits, ModeAuto, ModeBypass} }

// ModeNames returns the modes as a list for a sentence: "plan, ask, ...".
func ModeNames() string { return Names(Modes()) }

// Names lists values for an error that people read.
func Names[Name ~string](list []Name) string {
	names := make([]string, len(list))
	for i, name := range list {
		names[i] = string(name)
	}
	return strings.Join(names, ", ")
}

// RiskLevel is how much damage a call can do.
type RiskLevel string

const (
	RiskLow    RiskLevel = "low"
	RiskMedium RiskLevel = "medium"
	RiskHigh   RiskLevel = "high"
)

// Risk is the assessment of a call that people are shown.
type Risk struct {
	Level   RiskLevel `json:"level"`   // "low", "medium" or "high"
	Reasons []string  `json:"reasons"` // each a few words
}
