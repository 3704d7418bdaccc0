package api

import "strings"

// Mode is how much an agent may do in a session without asking. Rules and a floor
// hold in every mode.
type Mode string

const (
	// ModePlan: it reads, and changes nothing.
	ModePlan Mode = "plan"
	// ModeAsk: every change asks, unless a rule allows it.
	ModeAsk Mode = "ask"
	// ModeAcceptEdits: it changes files of the project; the rest asks.
	ModeAcceptEdits Mode = "accept-edits"
	// ModeAuto: only what is risky asks.
	ModeAuto Mode = "auto"
	// ModeBypass: only what cannot be read asks.
	ModeBypass Mode = "bypass"
)

// Modes lists the modes; each allows what those before it allow.
func Modes() []Mode { return []Mode{ModePlan, ModeAsk, ModeAcceptEdits, ModeAuto, ModeBypass} }

// ModeNames are the modes as a sentence lists them: "plan, ask, ...".
func ModeNames() string {
	var names []string
	for _, mode := range Modes() {
		names = append(names, string(mode))
	}
	return strings.Join(names, ", ")
}

// RiskLevel says how much a call can break.
type RiskLevel string

const (
	RiskLow    RiskLevel = "low"
	RiskMedium RiskLevel = "medium"
	RiskHigh   RiskLevel = "high"
)

// Risk is what a person is told of a call.
type Risk struct {
	Level   RiskLevel `json:"level"`
	Reasons []string  `json:"reasons"` // each a few words
}
