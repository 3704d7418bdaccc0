package mcp

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/visible"
)

// Bounds of what servers offer besides tools.
const (
	maxOffers   = 200 // resources of a server, and prompts
	maxPages    = 20
	maxURI      = 1000
	offersWait  = 5 * time.Second // for all servers
	maxDetail   = 200             // characters of a title or description
	maxArgument = 16
)

// offers are the resources and prompts of a server, until it says that they changed.
type offers struct {
	resources []*sdk.Resource
	prompts   []*sdk.Prompt
	listed    bool
}

// Offers lists the resources and prompts of a folder's servers, sorted by server and name. It
// starts the permitted servers as a turn does; those that are not ready in time offer nothing.
func (m *Manager) Offers(ctx context.Context, folder string) api.ListMCPOffersResponse {
	ctx, cancel := context.WithTimeout(ctx, offersWait)
	defer cancel()
	response := api.ListMCPOffersResponse{Resources: []api.MCPResource{}, Prompts: []api.MCPPrompt{}}
	for _, s := range m.started(ctx, folder) {
		o := s.offersOf(ctx)
		for _, r := range o.resources {
			response.Resources = append(response.Resources, api.MCPResource{
				Server: s.spec.name, URI: r.URI, Name: label(r.Name), Title: label(r.Title), Description: detail(r.Description), MimeType: label(r.MIMEType), Size: r.Size,
			})
		}
		for _, p := range o.prompts {
			prompt := api.MCPPrompt{Server: s.spec.name, Command: commandOf(s.spec.name, p.Name), Name: label(p.Name), Title: label(p.Title), Description: detail(p.Description)}
			for _, a := range p.Arguments {
				prompt.Arguments = append(prompt.Arguments, api.MCPArgument{Name: label(a.Name), Description: detail(a.Description), Required: a.Required})
			}
			response.Prompts = append(response.Prompts, prompt)
		}
	}
	return response
}

// commandOf is the word after a slash that calls a prompt.
func commandOf(server, prompt string) string { return prefix(server) + clean(prompt) }

func detail(text string) string { return visible.Shorten(label(text), maxDetail) }

// started returns the running servers of a folder, by name, after it has waited for those that
// start.
func (m *Manager) started(ctx context.Context, folder string) []*server {
	servers := m.start(folder)
	for _, s := range servers {
		settled := s.want()
		if settled == nil {
			continue
		}
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
	slices.SortFunc(servers, func(a, b *server) int { return cmp.Compare(a.spec.name, b.spec.name) })
	return servers
}

// offersOf returns what a running server offers, and lists it if that is not known.
func (s *server) offersOf(ctx context.Context) offers {
	s.mu.Lock()
	session, known := s.session, s.offers
	s.mu.Unlock()
	if session == nil || known.listed {
		return known
	}
	listed := offers{listed: true}
	capabilities := session.InitializeResult().Capabilities
	if capabilities == nil {
		return listed
	}
	var err, promptsErr error
	if capabilities.Resources != nil {
		listed.resources, err = resourcesOf(ctx, session)
	}
	if capabilities.Prompts != nil {
		listed.prompts, promptsErr = promptsOf(ctx, session)
	}
	if cmp.Or(err != nil, promptsErr != nil) {
		s.options.Logger.Warn("resources or prompts of an MCP server cannot be listed", "server", s.spec.name)
		listed.listed = false // what was listed is offered, and the next time lists again
		return listed
	}
	s.mu.Lock()
	if s.session == session {
		s.offers = listed
	}
	s.mu.Unlock()
	return listed
}

// changed forgets what a server offers.
func (s *server) changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers = offers{}
}

func resourcesOf(ctx context.Context, session *sdk.ClientSession) (list []*sdk.Resource, err error) {
	params := &sdk.ListResourcesParams{}
	for range maxPages {
		page, err := session.ListResources(ctx, params)
		if err != nil {
			return list, err
		}
		for _, r := range page.Resources {
			if r != nil && r.URI != "" && len(r.URI) <= maxURI && !strings.ContainsFunc(r.URI, func(c rune) bool { return c <= ' ' || c == 0x7f }) && len(list) < maxOffers {
				list = append(list, r)
			}
		}
		if page.NextCursor == "" || len(list) == maxOffers {
			break
		}
		params = &sdk.ListResourcesParams{Cursor: page.NextCursor}
	}
	slices.SortStableFunc(list, func(a, b *sdk.Resource) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}

func promptsOf(ctx context.Context, session *sdk.ClientSession) (list []*sdk.Prompt, err error) {
	params := &sdk.ListPromptsParams{}
	for range maxPages {
		page, err := session.ListPrompts(ctx, params)
		if err != nil {
			return list, err
		}
		for _, p := range page.Prompts {
			if p != nil && p.Name != "" && len(p.Name) <= maxLabel && len(p.Arguments) <= maxArgument && len(list) < maxOffers {
				list = append(list, p)
			}
		}
		if page.NextCursor == "" || len(list) == maxOffers {
			break
		}
		params = &sdk.ListPromptsParams{Cursor: page.NextCursor}
	}
	slices.SortStableFunc(list, func(a, b *sdk.Prompt) int { return cmp.Compare(a.Name, b.Name) })
	return list, nil
}
