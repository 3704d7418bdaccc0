// Package hosttest has what tests of other modules need of the host's inside: a
// provider of models on a socket that is as strict as the real ones.
package hosttest

import "github.com/scorel/scorel/apps/host/internal/model/modeltest"

// Provider speaks the wire of every provider: below /v1 that of OpenAI, at its
// root that of Anthropic, below /v1beta that of Gemini. It takes one key and one
// model, and says "ok" to whatever is asked well.
type Provider struct{ server *modeltest.Server }

// answers is how many calls a provider takes.
const answers = 100

// NewProvider starts one, which Close ends.
func NewProvider(key, model string) *Provider {
	steps := make([]modeltest.Step, answers)
	for i := range steps {
		steps[i] = modeltest.Say("ok")
	}
	server := modeltest.Serve(steps...)
	server.Demand(key, model)
	return &Provider{server}
}

// URL is the root, without a slash at its end.
func (p *Provider) URL() string { return p.server.URL }

// Close ends it and every connection to it.
func (p *Provider) Close() { p.server.Close() }
