package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// maxTests is how many servers are tested at once.
const maxTests = 2

// maxShownDescription bounds the description of a tool in a test, in characters.
const maxShownDescription = 300

// Test starts or contacts a server once, beside one that may be running, lists its tools and
// stops it again. A server that does not work is not an error: see Problem. It tests only what
// people allow to be started, and a disabled server too. Without a project the server works
// in an empty folder.
func (m *Manager) Test(ctx context.Context, folder, name string) (api.TestMCPServerResponse, error) {
	response := api.TestMCPServerResponse{Tools: []api.MCPTool{}}
	found, err := m.find(folder, name)
	if err != nil {
		return response, err
	}
	switch state, reason := m.permits(found, folder); state {
	case api.MCPIdle:
	case api.MCPFailed:
		response.Problem = reason
		return response, nil
	default:
		return response, api.Errorf(api.KindConflict, "the server %s was not started, because %s: %s", name, reason, m.advice(state, folder))
	}
	select {
	case m.tests <- struct{}{}:
		defer func() { <-m.tests }()
	case <-ctx.Done():
		return response, ctx.Err()
	}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "scorel-mcp-test-"); err != nil {
			return response, fmt.Errorf("mcp: creating a folder for a test: %w", err)
		}
		defer os.RemoveAll(folder)
	}
	return m.try(ctx, found, folder)
}

// try runs a server until it has listed its tools or failed.
func (m *Manager) try(ctx context.Context, found spec, folder string) (api.TestMCPServerResponse, error) {
	response := api.TestMCPServerResponse{Tools: []api.MCPTool{}}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return response, errors.New("mcp: the host is stopping")
	}
	s := m.run(found, folder, nil)
	settled := s.settled // no one but this test wants it again
	m.mu.Unlock()
	defer func() {
		s.cancel()
		<-s.done
	}()
	select {
	case <-settled:
	case <-ctx.Done():
		return response, ctx.Err()
	}
	state, reason, tools, _ := s.snapshot()
	if state != api.MCPReady {
		if response.Problem = cmp.Or(reason, "it exited"); state == api.MCPNeedsSignIn {
			response.Problem = "it needs a sign-in: `scorel mcp login " + found.name + "` or Sign in in the settings"
		}
		return response, nil
	}
	for _, tool := range tools {
		description := strings.ToValidUTF8(cmp.Or(tool.Description, tool.Title), "\uFFFD")
		response.Tools = append(response.Tools, api.MCPTool{Name: tool.Name, Description: visible.Shorten(description, maxShownDescription)})
	}
	slices.SortFunc(response.Tools, func(a, b api.MCPTool) int { return cmp.Compare(a.Name, b.Name) })
	return response, nil
}
