package host

import (
	"cmp"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

func (h *Host) load(getenv func(string) string) (err error) {
	h.label = labelOf(cmp.Or(h.cfg.Label, h.models.config.Label))
	if h.keys, err = keyfile.LoadOrCreate(h.paths.Identity(), ident.KindDevice); err != nil {
		return err
	}
	if h.projects, err = state.LoadProjects(h.paths.Projects()); err != nil {
		return err
	}
	if h.clients, err = state.LoadClients(h.paths.Clients()); err != nil {
		return err
	}
	if h.trust, err = state.LoadTrust(h.paths.Trust()); err != nil {
		return err
	}
	if h.tokens, err = state.LoadTokens(h.paths.Tokens()); err != nil {
		return err
	}
	for _, path := range h.cfg.Projects {
		if _, err := h.projects.Add(path); err != nil {
			return err
		}
	}
	if err := h.loadSessions(getenv); err != nil {
		return err
	}
	h.uplink = newUplink(h, h.relayURL())
	h.pairings = newPairings(h)
	h.serve = h.handlers()
	h.listener, err = listenDirect(cmp.Or(h.cfg.Listen, "127.0.0.1:0"))
	return err
}

func (h *Host) loadSessions(getenv func(string) string) (err error) {
	stopped := h.endLeft()
	if h.mcp, err = newMCP(h, getenv); err != nil {
		return err
	}
	if h.sandbox, err = detectSandbox(h.stopCtx, h.paths, h.models.config.Sandbox, h.cfg.Helper); err != nil {
		return err
	}
	kind, note := h.sandbox.Kind()
	h.log.Info("how commands are held back", "sandbox", kind, "network", h.sandbox.Reach().Network, "note", note)
	options, err := toolOptions(h.paths, h.models.config)
	if err != nil {
		return err
	}
	options.Sandbox, options.Ledger = h.sandbox.Wrap, h.ledger
	catalog := tool.NewCatalog(options)
	h.permissions, err = loadPermissions(h.paths, h.models.config.Permissions, catalog)
	if err != nil {
		return err
	}
	h.permissions.sheltered = kind == sandbox.Both
	h.permissions.changed = func() { h.tell(api.RulesChanged{}) }
	if err := checkCrew(h.models.config.Crew, catalog, h.paths.Config()); err != nil {
		return err
	}
	others := h.newCrew(catalog)
	open := func(sessionID string) agent.Toolset {
		team := others.Team(sessionID)
		scope := tool.Scope{Session: sessionID, Scratch: h.paths.Scratch(sessionID), Crew: team, Nested: h.nested}
		return &kit{Set: catalog.Open(scope), servers: h.mcp, team: team}
	}
	stores, err := openStores(h.stopCtx, h.models.config, h.paths.Sessions(), h.cfg.beneath, h.log)
	if err != nil {
		return err
	}
	found, err := index.Open(h.stopCtx, h.paths.Index(), stores, h.log)
	if err != nil { // it is only a copy: the sessions do not wait for it
		h.log.Error("opening the session index; sessions cannot be searched", "error", err)
	}
	h.process = process.NewLogs(h.paths.Process())
	h.sessions, err = sessions.NewManager(h.stopCtx, stores, sessions.Deps{
		Logger: h.log, Models: h.models, Tools: open, Index: found,
		System: agent.SystemPrompt, Ground: func(cwd string) agent.Ground { return ground(h.paths, h.trust, cwd) },
		Mode: h.models.config.Permissions.Mode, Permissions: h.permissions,
		OnSummary: func(summary api.SessionSummary) { h.tell(api.SessionUpdated{Session: summary}) },
		MaxSteps:  h.models.config.MaxSteps, Summaries: h.models.summaries(), Titles: h.models.summaries().Model,
		Project: h.projects.Get, Processes: h.process, QuestionTimeout: h.models.config.QuestionTimeout,
		Stopped: stopped, Attended: h.hub.attended,
		OnDelete: func(id string) { h.tell(api.SessionDeleted{ID: id}) },
	})
	if err == nil {
		others.Attach(h.sessions)
	}
	return err
}
