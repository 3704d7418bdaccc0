package host

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/agents"
	"github.com/scorel/scorel/apps/host/internal/attached"
	"github.com/scorel/scorel/apps/host/internal/blobs"
	"github.com/scorel/scorel/apps/host/internal/clients"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/extension"
	"github.com/scorel/scorel/apps/host/internal/files"
	"github.com/scorel/scorel/apps/host/internal/gitguard"
	"github.com/scorel/scorel/apps/host/internal/hook"
	"github.com/scorel/scorel/apps/host/internal/hostapi"
	"github.com/scorel/scorel/apps/host/internal/httpapi"
	"github.com/scorel/scorel/apps/host/internal/listener"
	"github.com/scorel/scorel/apps/host/internal/machine"
	"github.com/scorel/scorel/apps/host/internal/memory"
	"github.com/scorel/scorel/apps/host/internal/models"
	"github.com/scorel/scorel/apps/host/internal/moves"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/procgroup"
	"github.com/scorel/scorel/apps/host/internal/projectcontext"
	"github.com/scorel/scorel/apps/host/internal/projects"
	"github.com/scorel/scorel/apps/host/internal/rules"
	"github.com/scorel/scorel/apps/host/internal/sandbox"
	"github.com/scorel/scorel/apps/host/internal/schedule"
	"github.com/scorel/scorel/apps/host/internal/sessionapi"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/sessions/index"
	"github.com/scorel/scorel/apps/host/internal/signing"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/stores"
	"github.com/scorel/scorel/apps/host/internal/terminal"
	"github.com/scorel/scorel/apps/host/internal/tool"
	"github.com/scorel/scorel/apps/host/internal/toolkit"
	"github.com/scorel/scorel/apps/host/internal/uplink"
	"github.com/scorel/scorel/apps/host/internal/worktrees"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/keyfile"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// wiring connects the parts of a host that New makes. The host keeps the parts that it runs;
// wiring has the others, which only know each other.
type wiring struct {
	*Host
	getenv func(string) string

	// Files of the home.
	projects    *state.Projects
	clients     *state.Clients
	trust       *state.Trust
	switches    *state.Switches
	budgets     *state.BudgetStore
	consents    *state.Consents // to servers and hooks of projects
	runs        *schedule.Runs  // of schedules, as sessions
	moveRecords *moves.Records  // the sessions know them before there are moves
	tokens      *state.Tokens

	worktrees *worktrees.Worktrees // of sessions
	// What tools and sessions work with.
	sandbox     *sandbox.Sandbox
	ledger      *procgroup.Ledger // of commands that run; nil where the system has none
	stopped     func(sessionID, callID string) bool
	memory      *memory.Notes
	catalog     *tool.Catalog
	context     *projectcontext.Source
	permissions *rules.Permissions
	agents      *agents.Agents
	hooks       *hook.Manager
	extensions  *extension.Manager
	stores      *stores.Stores
	process     *process.Logs
	signing     *signing.Signing

	// Handlers of requests.
	dispatcher *dispatch.Dispatcher
	sessionAPI *sessionapi.Sessions
	projectAPI *projects.Projects
	ruleAPI    *rules.Requests
	fileAPI    *files.Files
	pairings   *uplink.Pairings
}

// connect makes the parts in the order in which they depend on each other.
func (w *wiring) connect() error {
	for _, step := range []func() error{w.loadFiles, w.openTools, w.openSessions, w.serve} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (w *wiring) loadFiles() (err error) {
	if err = w.loadName(); err != nil {
		return err
	}
	if w.keys, err = keyfile.LoadOrCreate(w.paths.Identity(), ident.KindDevice); err != nil {
		return err
	}
	if w.projects, err = state.LoadProjects(w.paths.Projects()); err != nil {
		return err
	}
	if w.clients, err = state.LoadClients(w.paths.Clients()); err != nil {
		return err
	}
	if w.trust, err = state.LoadTrust(w.paths.Trust()); err != nil {
		return err
	}
	if w.switches, err = state.LoadSwitches(w.paths.Switches()); err != nil {
		return err
	}
	if w.budgets, err = state.LoadBudgets(w.paths.Budgets(), w.config.Budgets, time.Now); err != nil {
		return err
	}
	if w.consents, err = state.LoadConsents(w.paths.MCP()); err != nil {
		return err
	}
	if w.tokens, err = state.LoadTokens(w.paths.Tokens()); err != nil {
		return err
	}
	w.hub = dispatch.NewHub(w.log, w.clients)
	w.context = &projectcontext.Source{Paths: w.paths, Trust: w.trust, Switches: w.switches}
	w.signing = &signing.Signing{Keys: w.keys, Label: w.name.Current, Entry: w.paths.Entry(), Clients: w.clients, Tokens: w.tokens}
	if err = w.loadWorktrees(); err != nil {
		return err
	}
	if err = w.loadExtensions(); err != nil {
		return err
	}
	w.context.Extensions = w.extensions.Definitions
	if w.moveRecords, err = moves.Load(w.paths.Moves()); err != nil {
		return err
	}
	if err = w.loadSchedules(); err != nil {
		return err
	}
	if err = w.loadAttention(); err != nil {
		return err
	}
	if err = w.loadChats(); err != nil {
		return err
	}
	for _, path := range w.cfg.Projects {
		if _, err := w.projects.Add(path); err != nil {
			return err
		}
	}
	return nil
}

// openTools makes the tools, and what decides whether and how they run.
func (w *wiring) openTools() (err error) {
	w.endLeft()
	if w.sandbox, err = detectSandbox(w.stopCtx, w.paths, w.config.Sandbox, w.cfg.Helper); err != nil {
		return state.Misconfigured(err)
	}
	if w.mcp, err = w.newMCP(); err != nil {
		return err
	}
	w.hooks = w.newHooks()
	kind, note := w.sandbox.Kind()
	w.log.Info("sandbox for commands", "sandbox", kind, "network", w.sandbox.Reach().Network, "note", note)
	if machine.RunsAsRoot() {
		w.log.Warn("the host runs as root: whatever gets past an approval or the sandbox can change the whole machine; run it as an ordinary user")
	}
	options, err := toolkit.Options(w.paths, w.config)
	if err != nil {
		return state.Misconfigured(err)
	}
	options.Sandbox = func(argv []string, dir string, open ...string) []string {
		return w.confine(w.sandbox, argv, dir, open...)
	}
	w.memory = memory.New(w.paths.Memory(), func() { w.hub.Notify(api.MemoryChanged{}) })
	options.Ledger, options.Origin, options.Memory = w.ledger, w.worktrees.Origin, w.memory
	options.GuardGit = w.guardGit(gitguard.New(w.paths.GitAside()))
	options.TakesFiles = func(session string) bool { return w.chats.TakesFiles(session) }
	w.catalog = tool.NewCatalog(options)
	confinement := rules.Confinement{PrivateHidden: kind == sandbox.Both, UnconfinedRoot: machine.RunsAsRoot() && kind != sandbox.Both && w.cfg.Helper != ""}
	w.permissions, err = rules.Load(w.paths, w.config.Permissions, w.catalog, confinement, func() { w.hub.Notify(api.RulesChanged{}) })
	if err != nil {
		return err
	}
	w.agents, err = agents.New(agents.Options{
		Logger: w.log, Paths: w.paths, Config: w.config, Reload: func() (state.Config, error) { return state.LoadConfig(w.paths.Config(), w.getenv) },
		Projects: w.projects, Trust: w.trust, Context: w.context, Catalog: w.catalog, Hub: w.hub, Models: w.models,
	})
	return err
}

func (w *wiring) openSessions() (err error) {
	w.openBackends()
	observer, err := w.loadObserver()
	if err != nil {
		return err
	}
	if w.stores, err = stores.Open(w.stopCtx, w.config, w.paths.Sessions(), w.cfg.beneath, w.log); err != nil {
		return err
	}
	found, err := index.Open(w.stopCtx, w.paths.Index(), w.stores, w.log)
	if err != nil { // it is only a copy: the sessions do not wait for it
		w.log.Error("opening the session index; sessions cannot be searched", "error", err)
	}
	orchestrator := w.agents.Orchestrator()
	open := func(sessionID string) agent.Toolset {
		team := orchestrator.Team(sessionID)
		scope := tool.Scope{Session: sessionID, Scratch: w.paths.Scratch(sessionID), Subagents: team, Nested: w.context.Nested}
		return toolkit.NewSession(w.catalog.Open(scope), w.mcp, team)
	}
	w.process, w.blobs = process.NewLogs(w.paths.Process()), blobs.New(w.paths.Blobs())
	w.fileAPI, err = files.New(files.Options{
		Logger: w.log, Paths: w.paths, Projects: w.projects, Catalog: w.catalog, Policy: w.permissions.Policy,
	})
	if err != nil {
		return err
	}
	w.sessions, err = sessions.NewManager(w.stopCtx, w.stores, sessions.Deps{
		Logger: w.log, Models: w.models, Tools: open, Index: found, Uploads: w.blobs,
		System: agent.SystemPrompt, ProjectContext: w.context.Load,
		Environment: w.context.Environment, Memory: w.givenNotes, Journal: w.recordTurn,
		Mode: w.config.Permissions.Mode, Permissions: w.permissions,
		OnSummary: func(summary api.SessionSummary) {
			w.hub.Notify(api.SessionUpdated{Session: summary})
			w.scheduler.Observe(summary)
		},
		Agent: w.agents.Persona, MaxSteps: w.config.MaxSteps, Summaries: w.models.Summaries(), Titles: w.models.Summaries().Model,
		Project: w.projects.Get, Processes: w.process, QuestionTimeout: w.config.QuestionTimeout,
		Stopped: w.stopped, Attended: w.hub.Attended, Attention: w.attention,
		OnDelete: w.sessionDeleted,
		Began:    w.fileAPI.Began, Working: w.working(), Observe: observer,
		Sign: w.signing.SignHead, CheckAnswer: w.signing.CheckAnswer, Worktrees: w.worktrees, Hooks: w.hooks, Budgets: w.budgets, Moves: w.moveRecords, Backends: w.backends,
	})
	if err != nil {
		return err
	}
	w.runs.Manager = w.sessions
	orchestrator.Attach(w.sessions)
	w.fileAPI.Attach(w.sessions)
	w.makeMoves()
	w.recoverWorktrees()
	return nil
}

// sessionDeleted removes what belongs to a session that was deleted.
func (w *wiring) sessionDeleted(projectID, id string) {
	w.fileAPI.Forget(id)
	if err := attached.Remove(w.paths.Scratch(id)); err != nil {
		w.log.Error("removing the attached files of a deleted session", "session", id, "error", err)
	}
	w.forgetTurns(projectID, id)
	w.hub.NotifyDeleted(projectID, id)
	w.clientAPI.EndSession(id)
	w.scheduler.Gone(id)
	w.attention.RemoveSession(id)
}

// serve makes the handlers of requests, and the parts that bring the requests.
func (w *wiring) serve() (err error) {
	w.sessionAPI = sessionapi.New(sessionapi.Options{
		Manager: w.sessions, Hub: w.hub, Projects: w.projects, Processes: w.process, Blobs: w.blobs, Signing: w.signing,
		Looked: w.attention.Looked, Scratch: w.paths.Scratch, Logger: w.log, Budgets: w.budgets, RemoteMode: w.config.Permissions.RemoteMode,
		Transcripts: w.foreignTranscripts(),
	})
	w.ruleAPI = rules.NewRequests(w.log, w.permissions, w.projects, w.hub, w.sessions)
	w.projectAPI = projects.New(projects.Options{
		Logger: w.log, List: w.projects, Trust: w.trust, Hub: w.hub, Sessions: w.sessions, Servers: w.mcp, Hooks: w.hooks, WhileUnexpected: w.moves.WhileUnexpected, Extensions: w.extensions,
		Unavailable: w.stores.Unavailable, Skills: w.context, Switches: w.switches, Memory: w.memory, TrustChanged: w.agents.NotifyChanged,
	})
	w.terminals = terminal.New(terminal.Options{
		Logger: w.log, Projects: w.projects, Allowed: w.mayOpenTerminals, Environ: w.environ, Home: machine.UserHome(), Patience: terminal.Patience,
		Session: w.folderOf, Changed: func(id string) { w.hub.NotifyClient(id, api.GrantShell, api.TerminalsChanged{}) },
	})
	if w.listener, err = listener.Listen(cmp.Or(w.cfg.Listen, "127.0.0.1:0"), w.log); err != nil {
		return err
	}
	if err := w.connectClients(); err != nil {
		return err
	}
	w.dispatcher = dispatch.New(dispatch.Options{
		Logger: w.log, Hub: w.hub, Tokens: w.tokens, Endpoints: w.endpoints(), Unwatched: w.sessions.Attend, ProjectOf: w.projectOf, Unknown: w.sessions.Unknown, Moves: w.moves,
		Begun: func(clientID string) { w.clientAPI.Presence(clientID) },
		Ended: func(clientID string) { w.clientAPI.Presence(clientID); w.attention.Looked() },
	})
	w.http = httpapi.New(httpapi.Options{
		Logger: w.log, Dispatcher: w.dispatcher, Sessions: w.sessionAPI, Tokens: w.tokens, LocalToken: w.token, Triggers: w.scheduler, Page: w.page(),
	})
	w.stores.Watch(w.storesChanged)
	return nil
}

// connectClients makes the parts that know clients and relays.
func (w *wiring) connectClients() error {
	links, err := w.links()
	if err != nil {
		return err
	}
	options := uplink.Options{
		Label: w.name.Current, Keys: w.keys, Clients: w.clients, Logger: w.log, Notify: w.hub.Notify,
		Serve: func(ctx context.Context, transport client.Transport, clientID string, grants []api.Grant) error {
			return w.dispatcher.Serve(ctx, transport, clientID, grants) // it is made later
		},
		Remove: func(id ident.ID) (bool, error) { return w.clientAPI.Remove(id) },
		Paired: func(id ident.ID) { w.clientAPI.Refresh(id) },
		Choose: func(grants []api.Grant, limits api.ClientLimits) ([]api.Grant, api.ClientLimits, error) {
			return w.clientAPI.Choose(grants, limits)
		},
	}
	w.uplinks = uplink.NewAll(links, options)
	w.pairings = uplink.NewPairings(w.uplinks, options)
	w.clientAPI = clients.New(clients.Options{Logger: w.log, List: w.clients, Tokens: w.tokens, Hub: w.hub, Relay: w.uplinks, Projects: w.projects, Keys: w.keys, Exists: w.sessionExists, Changed: func(id string) {
		w.terminals.Recheck(id)
		w.sessions.Attend()
		w.recheck(id)
	}})
	return nil
}

// mayOpenTerminals reports whether a client may have shells: this machine's user, or a paired
// client that has the grant by the list of clients.
func (w *wiring) mayOpenTerminals(clientID string) bool {
	if clientID == dispatch.LocalID {
		return true
	}
	id, err := ident.ParseClientID(clientID)
	if err != nil {
		return false
	}
	client, known := w.clients.Get(id)
	return known && !client.Expired(time.Now()) && slices.Contains(client.Grants, api.GrantShell)
}

// projectOf returns the project of a session, also of one that was moved away: clients that could
// see it learn where it is.
func (w *wiring) projectOf(sessionID string) (projectID string, exists bool) {
	if projectID, exists = w.sessions.ProjectOf(sessionID); exists {
		return projectID, true
	}
	return w.moves.ProjectOf(sessionID)
}

func (w *wiring) sessionExists(id string) bool {
	_, exists := w.sessions.ProjectOf(id)
	return exists
}

// folderOf returns the project of a session with the folder that the session works in.
func (w *wiring) folderOf(sessionID string) (api.Project, error) {
	s, err := w.sessions.Open(sessionID)
	if err != nil {
		return api.Project{}, err
	}
	return s.Folder()
}

// storesChanged makes the sessions of a database usable that is available again, and
// notifies the clients.
func (w *wiring) storesChanged() {
	if err := w.sessions.Refresh(w.stopCtx); err != nil {
		w.log.Error("listing the sessions of a provider that is available again", "error", err)
	}
	w.hub.Notify(api.ProjectsChanged{Projects: w.projectAPI.Listed()})
}

// endpoints are the requests that the host serves. A test compares them with the table of
// requests.
func (w *wiring) endpoints() []dispatch.Endpoint {
	return slices.Concat(w.sessionAPI.Endpoints(), w.clientAPI.Endpoints(), w.pairings.Endpoints(), w.projectAPI.Endpoints(),
		w.ruleAPI.Endpoints(), w.fileAPI.Endpoints(), w.agents.Endpoints(), w.terminals.Endpoints(), w.hostAPI().Endpoints(), w.moves.Endpoints(), w.scheduleAPI().Endpoints(), w.attention.Endpoints(), w.chats.Endpoints(), w.backendAPI().Endpoints(),
		(&models.Requests{Logger: w.log, Models: w.models, Keys: w.modelKeys, Hub: w.hub, Path: w.paths.Models()}).Endpoints())
}

func (w *wiring) hostAPI() *hostapi.Host {
	return &hostapi.Host{
		Keys: w.keys, Name: w.name, Renamed: w.uplinks.Renew, Version: w.cfg.Version, Models: w.models, Sandbox: w.sandbox, Relay: w.uplinks.Status, Paths: w.uplinks.Paths,
		Outages: w.stores.Outages, MaxMode: w.sessionAPI.MaxMode, Stop: func() { w.stop(errStopped) },
		Pause: w.pause, Resume: w.resume, Restart: w.restart,
	}
}
