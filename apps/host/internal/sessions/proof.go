package sessions

import (
	"context"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/proof"
	"github.com/scorel/scorel/packages/protocol/session"
)

// Proof says what the log of a session proves now. The session need not be open, and is
// not held up.
func (m *Manager) Proof(ctx context.Context, id string, known ...session.ChainValue) (api.Proof, error) {
	m.registry.mu.Lock()
	_, ok := m.known[id]
	m.registry.mu.Unlock()
	if !ok {
		return api.Proof{}, m.Unknown(id)
	}
	_, data, err := m.provider.Export(ctx, id)
	if err != nil {
		return api.Proof{}, clientError(err)
	}
	return proof.Check(data, known...), nil
}
