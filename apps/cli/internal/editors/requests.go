package editors

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorel/scorel/packages/acp"
	"github.com/scorel/scorel/packages/protocol/api"
)

// Request implements acp.Handler.
func (s *server) Request(r *acp.Request) {
	<-s.ready
	switch r.Method {
	case acp.MethodInitialize:
		s.initialize(r)
	case acp.MethodAuthenticate:
		r.Reply(acp.Empty{}, nil) // none is needed: this program's identity is paired with the host
	case acp.MethodNewSession:
		serve(r, s.newSession)
	case acp.MethodLoadSession:
		serve(r, s.loadSession)
	case acp.MethodResumeSession:
		serve(r, s.resumeSession)
	case acp.MethodListSessions:
		serve(r, s.listSessions)
	case acp.MethodCloseSession:
		serve(r, s.closeSession)
	case acp.MethodPrompt:
		serve(r, s.prompt)
	case acp.MethodSetMode:
		serve(r, s.setMode)
	case acp.MethodSetConfigOption:
		serve(r, s.setOption)
	default:
		r.NotFound()
	}
}

// serve answers a request with what handle returns, in a goroutine.
func serve[Params any](r *acp.Request, handle func(context.Context, Params) (any, error)) {
	var params Params
	if err := r.Decode(&params); err != nil {
		r.Reply(nil, err)
		return
	}
	r.Go(func(ctx context.Context) (any, error) {
		result, err := handle(ctx, params)
		return result, forEditor(err)
	})
}

// Notify implements acp.Handler.
func (s *server) Notify(method string, params json.RawMessage) {
	<-s.ready
	var n acp.SessionRequest
	if method != acp.MethodCancel || json.Unmarshal(params, &n) != nil {
		return
	}
	if o, err := s.session(n.SessionID); err == nil {
		o.wantCancel()
	}
}

func (s *server) initialize(r *acp.Request) {
	var params acp.InitializeRequest
	if err := r.Decode(&params); err != nil {
		r.Reply(nil, err)
		return
	}
	s.mu.Lock()
	s.client = params.ClientCapabilities
	s.mu.Unlock()
	some := &acp.Empty{}
	r.Reply(acp.InitializeResponse{
		ProtocolVersion: acp.Version1,
		AgentCapabilities: acp.AgentCapabilities{
			LoadSession:         true,
			PromptCapabilities:  acp.PromptCapabilities{Image: true, EmbeddedContext: true},
			SessionCapabilities: acp.SessionCapabilities{List: some, Resume: some, Close: some},
		},
		AgentInfo:   &acp.Implementation{Name: "scorel", Title: "scorel", Version: s.cfg.Version},
		AuthMethods: []acp.AuthMethod{},
	}, nil)
}

func (s *server) newSession(ctx context.Context, r acp.NewSessionRequest) (any, error) {
	s.noteServers(r.MCPServers)
	project, err := s.projectOf(ctx, r.Cwd)
	if err != nil {
		return nil, err
	}
	created, err := do(ctx, s, api.CreateSession, api.CreateSessionRequest{ProjectID: project.ID, ClientKey: rand.Text()})
	if err != nil {
		return nil, err
	}
	o, err := s.attach(ctx, created.Session.ID, folderOf(created.Session, project), false)
	if err != nil {
		return nil, err
	}
	return o.describe(ctx, created.Session.ID)
}

// noteServers logs that the editor's MCP servers are not used: the host has its own.
func (s *server) noteServers(servers []acp.MCPServer) {
	if len(servers) > 0 {
		s.cfg.Logger.Warn("MCP servers of the editor are not used: add them to the host with scorel mcp add", "servers", len(servers))
	}
}

func folderOf(summary api.SessionSummary, project api.Project) string {
	if summary.Worktree != nil {
		return cmp.Or(summary.Worktree.Folder, project.Path)
	}
	return project.Path
}

// projectOf returns the project of a folder of the editor. On this machine it is added if there is
// none; on another one --project says which it is, or the folder's name does.
func (s *server) projectOf(ctx context.Context, cwd string) (api.Project, error) {
	if !filepath.IsAbs(cwd) {
		return api.Project{}, acp.Errorf(acp.CodeInvalidParams, "cwd %.200q is not an absolute path", cwd)
	}
	list, err := do(ctx, s, api.ListProjects, api.Empty{})
	if err != nil {
		return api.Project{}, err
	}
	if s.cfg.Project != "" {
		for _, project := range list.Projects {
			if project.ID == s.cfg.Project || project.Path == s.cfg.Project {
				return project, nil
			}
		}
	}
	switch {
	case s.cfg.Local:
		added, err := do(ctx, s, api.AddProject, api.AddProjectRequest{Path: cmp.Or(s.cfg.Project, cwd)})
		return added.Project, err
	case s.cfg.Project != "":
		return api.Project{}, acp.Errorf(acp.CodeNotFound, "the device has no project %.200q: add it there, or give another --project", s.cfg.Project)
	}
	var found []api.Project
	for _, project := range list.Projects {
		if project.Path == cwd {
			return project, nil
		}
		if filepath.Base(project.Path) == filepath.Base(cwd) {
			found = append(found, project)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return api.Project{}, acp.Errorf(acp.CodeNotFound, "the device has %d projects named %.80q: choose one with --project", len(found), filepath.Base(cwd))
}

func (s *server) loadSession(ctx context.Context, r acp.LoadSessionRequest) (any, error) {
	return s.again(ctx, r, true)
}

func (s *server) resumeSession(ctx context.Context, r acp.LoadSessionRequest) (any, error) {
	return s.again(ctx, r, false)
}

func (s *server) again(ctx context.Context, r acp.LoadSessionRequest, replay bool) (any, error) {
	s.noteServers(r.MCPServers)
	o, err := s.attach(ctx, r.SessionID, r.Cwd, replay)
	if err != nil {
		return nil, err
	}
	return o.describe(ctx, "")
}

func (s *server) closeSession(_ context.Context, r acp.SessionRequest) (any, error) {
	if _, err := s.session(r.SessionID); err != nil {
		return nil, err
	}
	s.detach(r.SessionID)
	return acp.Empty{}, nil
}

// pageOfSessions is how many sessions one answer lists.
const pageOfSessions = 50

func (s *server) listSessions(ctx context.Context, r acp.ListSessionsRequest) (any, error) {
	projects, err := do(ctx, s, api.ListProjects, api.Empty{})
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	request := api.ListSessionsRequest{Limit: pageOfSessions, After: r.Cursor}
	for _, project := range projects.Projects {
		paths[project.ID] = project.Path
		if project.Path == r.Cwd || project.ID == s.cfg.Project || project.Path == s.cfg.Project && s.cfg.Project != "" {
			request.ProjectID = project.ID
		}
	}
	if r.Cwd != "" && request.ProjectID == "" && s.cfg.Local {
		return acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}, nil
	}
	list, err := do(ctx, s, api.ListSessions, request)
	if err != nil {
		return nil, err
	}
	out := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}, NextCursor: list.Next}
	for _, summary := range list.Sessions {
		out.Sessions = append(out.Sessions, acp.SessionInfo{
			SessionID: summary.ID, Cwd: cmp.Or(r.Cwd, folderOf(summary, api.Project{Path: paths[summary.ProjectID]})),
			Title: summary.Name, UpdatedAt: time.UnixMilli(summary.UpdatedAt).UTC().Format(time.RFC3339),
		})
	}
	return out, nil
}

func (s *server) setMode(ctx context.Context, r acp.SetModeRequest) (any, error) {
	o, err := s.session(r.SessionID)
	if err != nil {
		return nil, err
	}
	return acp.Empty{}, o.setMode(ctx, r.ModeID)
}

func (o *open) setMode(ctx context.Context, mode string) error {
	_, err := do(ctx, o.s, api.SetMode, api.SetModeRequest{SessionID: o.id, Mode: api.Mode(mode)})
	if err == nil {
		o.changed(func(summary *api.SessionSummary) { summary.Mode = api.Mode(mode) })
	}
	return err
}

// setModel changes the model, its thinking level, or both.
func (o *open) setModel(ctx context.Context, model, thinking string) error {
	_, err := do(ctx, o.s, api.SetModel, api.SetModelRequest{SessionID: o.id, Model: model, Thinking: thinking})
	if err == nil {
		o.changed(func(summary *api.SessionSummary) {
			summary.Model, summary.Thinking = cmp.Or(model, summary.Model), cmp.Or(thinking, summary.Thinking)
		})
	}
	return err
}

// The ids of the options of a session.
const (
	optionMode     = "mode"
	optionModel    = "model"
	optionThinking = "thinking"
)

func (s *server) setOption(ctx context.Context, r acp.SetConfigOptionRequest) (any, error) {
	o, err := s.session(r.SessionID)
	if err != nil {
		return nil, err
	}
	var value string
	if json.Unmarshal(r.Value, &value) != nil {
		return nil, acp.Errorf(acp.CodeInvalidParams, "the value of %.40q must be a string", r.ConfigID)
	}
	option, foreign := strings.CutPrefix(r.ConfigID, agentOption)
	switch {
	case foreign:
		err = o.setBackendOption(ctx, option, value)
	case r.ConfigID == optionMode:
		err = o.setMode(ctx, value)
	case r.ConfigID == optionModel:
		err = o.setModel(ctx, value, "")
	case r.ConfigID == optionThinking:
		err = o.setModel(ctx, "", value)
	default:
		err = acp.Errorf(acp.CodeInvalidParams, "there is no option %.40q", r.ConfigID)
	}
	if err != nil {
		return nil, err
	}
	state, err := o.describe(ctx, "")
	return acp.SetConfigOptionResponse{ConfigOptions: state.ConfigOptions}, err
}

// describe returns the modes and options of the session as they are now.
func (o *open) describe(ctx context.Context, id string) (acp.SessionState, error) {
	info, err := o.s.hostInfo(ctx)
	if err != nil {
		return acp.SessionState{}, err
	}
	return acp.SessionState{SessionID: id, Modes: modesOf(o.current(), info), ConfigOptions: o.options(ctx, info)}, nil
}

// modeWords describe a mode to people.
func modeWords(mode api.Mode) (name, description string) {
	switch mode {
	case api.ModePlan:
		return "Plan only", "Reads, and changes nothing"
	case api.ModeAsk:
		return "Ask first", "Asks for every change that no rule allows"
	case api.ModeAcceptEdits:
		return "Auto-accept edits", "Edits project files freely; asks for everything else"
	case api.ModeAuto:
		return "Auto", "Runs anything that is not high risk"
	case api.ModeBypass:
		return "Bypass permissions", "Asks only for commands that cannot be analyzed"
	}
	return string(mode), ""
}

func modesOf(summary api.SessionSummary, info api.HostInfo) *acp.ModeState {
	state := &acp.ModeState{CurrentModeID: string(summary.Mode), AvailableModes: []acp.Mode{}}
	for _, mode := range api.Modes() {
		name, description := modeWords(mode)
		state.AvailableModes = append(state.AvailableModes, acp.Mode{ID: string(mode), Name: name, Description: description})
		if mode == info.MaxMode {
			break
		}
	}
	return state
}

func optionsOf(summary api.SessionSummary, info api.HostInfo) []acp.ConfigOption {
	var modes, models, levels []acp.ConfigChoice
	for _, mode := range modesOf(summary, info).AvailableModes {
		modes = append(modes, acp.ConfigChoice{Value: mode.ID, Name: mode.Name, Description: mode.Description})
	}
	for _, model := range info.Models {
		models = append(models, acp.ConfigChoice{Value: model.Name, Name: model.Name, Description: strings.TrimSpace(model.Provider + " " + model.ID)})
		if model.Name == summary.Model {
			for _, level := range model.ThinkingLevels {
				levels = append(levels, acp.ConfigChoice{Value: level, Name: level})
			}
		}
	}
	options := []acp.ConfigOption{
		acp.Select(optionMode, "Permissions", acp.CategoryMode, string(summary.Mode), modes...),
		acp.Select(optionModel, "Model", acp.CategoryModel, summary.Model, models...),
	}
	if len(levels) > 0 {
		options = append(options, acp.Select(optionThinking, "Reasoning", acp.CategoryThoughtLevel, summary.Thinking, levels...))
	}
	return options
}
