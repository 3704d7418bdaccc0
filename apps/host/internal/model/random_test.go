package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/packages/protocol/session"
)

// TestRandomSessions runs random sessions over all providers: changes of model and level
// between turns, cancels, faults, answers cut by length, lost and duplicated log entries.
// No strict server rejects any request.
func TestRandomSessions(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			d := &desk{steers: func() bool { return r.IntN(4) == 0 }}
			for range 6 {
				randomTurn(t, r, d)
				if t.Failed() {
					return
				}
				if r.IntN(3) == 0 {
					d.history = damage(r, d.history)
				}
			}
		})
	}
}

var randomModels = []Config{
	{Type: TypeOpenAI, Model: "gpt-4o"}, {Type: TypeOpenAI, Model: "local"},
	{Type: TypeResponses, Model: "gpt-5"}, {Type: TypeResponses, Model: "o4-mini"},
	{Type: TypeAnthropic, Model: "claude-sonnet-4-5"}, {Type: TypeAnthropic, Model: "claude-opus-4-6"},
	{Type: TypeGoogle, Model: "gemini-3-pro-preview"}, {Type: TypeGoogle, Model: "gemini-2.5-flash"},
}

func randomTurn(t *testing.T, r *rand.Rand, d *desk) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	d.steps, d.onStep = 0, nil
	if r.IntN(2) == 0 {
		at := 1 + r.IntN(40)
		d.onStep = func(n int) {
			if n == at {
				cancel()
			}
		}
	}
	var steps []modeltest.Step
	for range r.IntN(4) {
		steps = append(steps, randomStep(r, true))
	}
	levels := []agent.ThinkingLevel{"", agent.ThinkingOff, agent.ThinkingLow, agent.ThinkingHigh}
	config := randomModels[r.IntN(len(randomModels))]
	outcome := play(t, ctx, d, config, levels[r.IntN(len(levels))], append(steps, randomStep(r, false))...)
	if ctx.Err() == nil && outcome.StopReason == session.StopError && !strings.Contains(outcome.Error, "modeltest: there is no step left") {
		t.Errorf("%s %s: %+v", config.Type, config.Model, outcome)
	}
}

// randomIDs are ids as servers generate them: some are counters, some are long, some
// contain unusual characters.
var randomIDs = []string{"call_0", "functions.read:0", strings.Repeat("long", 20), "a|b", "x", "toolu_01", "é"}

func randomStep(r *rand.Rand, calls bool) modeltest.Step {
	step := modeltest.Step{Piece: 10}
	if r.IntN(2) == 0 {
		step.Content = append(step.Content, session.Block{Type: session.BlockThinking, Thinking: "thinking about it"})
	}
	if r.IntN(2) == 0 || !calls {
		step.Content = append(step.Content, session.Text("some words of text"))
	}
	if r.IntN(8) == 0 {
		step.Content = append(step.Content, session.Text("   "))
	}
	arguments := []string{`{}`, `{"path":"x"}`, `{"image":1}`, `{"a":{"b":[1,"é"]}}`}
	for range map[bool]int{true: 1 + r.IntN(3)}[calls] {
		name := []string{"read", "write", "gone"}[r.IntN(3)]
		step.Content = append(step.Content, modeltest.Call(randomIDs[r.IntN(len(randomIDs))], name, arguments[r.IntN(len(arguments))]))
	}
	if r.IntN(6) == 0 {
		step.Stop = session.StopLength
	}
	for range map[bool]int{true: r.IntN(3)}[r.IntN(4) == 0] {
		step.Faults = append(step.Faults, []modeltest.Fault{{Status: 503}, {Status: 429, RetryAfter: "0.001"}, {Drop: true}}[r.IntN(3)])
	}
	return step
}

// damage changes a history as crashes and other programs do.
func damage(r *rand.Rand, history []session.Message) []session.Message {
	at := r.IntN(len(history))
	switch r.IntN(3) {
	case 0: // lost
		return slices.Delete(slices.Clone(history), at, at+1)
	case 1: // twice
		return slices.Insert(slices.Clone(history), at, history[at])
	}
	return slices.Clone(history[at:]) // begins in the middle
}
