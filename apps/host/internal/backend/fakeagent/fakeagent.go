// Package fakeagent is an agent for tests that does what its prompt says, line by line. It runs
// as a process of its own and keeps its sessions in a folder, as the programs of vendors do.
//
// The lines of a script, which other lines of the prompt may surround:
//
//	say TEXT             a message; think TEXT is a thought
//	call ID KIND TITLE   a tool call; run ID and done ID TEXT, fail ID TEXT change it
//	edit ID PATH         a tool call that shows a diff; file ID KIND PATH one that names a file only
//	ask ID               asks for permission for a call, and says which option was chosen
//	form NAME TYPE       asks people for a value, and says it; url ADDRESS asks to open one
//	update JSON          sends an update as it is
//	flood N              sends N chunks of a message; pace N SECONDS sends N a second
//	line MIB             sends one message of that many MiB; picture MIB a picture
//	garbage N            prints N lines that are no messages
//	calls N              makes N tool calls that end; open N makes N that do not
//	recall               says the prompts of the session, one a line
//	env NAME             says the value of a variable; environ says all
//	mute                 changes the mode from now on without an answer
//	mode                 says the mode and the other options of the session
//	wait                 waits until the turn is canceled
//	silent               does nothing any more, also when canceled
//	crash                exits with code 3; hang stops reading as well
//	stop REASON          ends the turn with a reason; error TEXT with an error
package fakeagent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/scorel/scorel/packages/acp"
)

// Options of the agent.
type Options struct {
	Home     string // where sessions are kept; "" keeps none
	Login    bool   // session/new needs a login
	NoResume bool   // sessions can be loaded only; with NoLoad, neither
	NoLoad   bool
	Mode     string // in which sessions begin and are loaded; "" is ask
	Trusts   bool   // has an option "trust" of a category of its own
}

// Parse reads the options of a command line.
func Parse(args []string) (o Options) {
	for _, arg := range args {
		switch name, value, _ := strings.Cut(arg, "="); name {
		case "--home":
			o.Home = value
		case "--login":
			o.Login = true
		case "--no-resume":
			o.NoResume = true
		case "--no-load":
			o.NoLoad = true
		case "--mode":
			o.Mode = value
		case "--trusts":
			o.Trusts = true
		}
	}
	return o
}

// Arg, as the first argument, makes a test's own program the agent: see Main.
const Arg = "run-fake-agent"

// Main serves a client on standard input and output and exits, if the program was started as the
// agent. TestMain calls it first.
func Main() {
	if len(os.Args) > 1 && os.Args[1] == Arg {
		Run(os.Stdin, os.Stdout, Parse(os.Args[2:]))
		os.Exit(0)
	}
}

// Run serves a client until it closes the connection.
func Run(in io.Reader, out io.WriteCloser, o Options) {
	a := &agent{options: o, out: out, ready: make(chan struct{}), turns: map[string]context.CancelFunc{}, modes: map[string]string{}, other: map[string]map[string]string{}}
	a.conn = acp.New(in, out, a, acp.Options{})
	close(a.ready)
	<-a.conn.Ended()
}

type agent struct {
	options Options
	out     io.Writer
	conn    *acp.Conn
	ready   chan struct{}

	mu    sync.Mutex
	made  int
	turns map[string]context.CancelFunc // by session
	modes map[string]string             // by session
	mute  bool
	other map[string]map[string]string // values of the other options, by session
}

// Notify implements acp.Handler.
func (a *agent) Notify(method string, params json.RawMessage) {
	var r acp.SessionRequest
	if method != acp.MethodCancel || json.Unmarshal(params, &r) != nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if cancel := a.turns[r.SessionID]; cancel != nil {
		cancel()
	}
}

// Request implements acp.Handler.
func (a *agent) Request(r *acp.Request) {
	<-a.ready
	switch r.Method {
	case acp.MethodInitialize:
		r.Reply(a.capabilities(), nil)
	case acp.MethodNewSession:
		a.begin(r)
	case acp.MethodLoadSession, acp.MethodResumeSession:
		a.again(r)
	case acp.MethodListSessions:
		r.Reply(a.list(), nil)
	case acp.MethodSetMode:
		a.setMode(r)
	case acp.MethodSetModel, acp.MethodSetConfigOption:
		a.setOther(r)
	case acp.MethodPrompt:
		a.prompt(r)
	default:
		r.NotFound()
	}
}

func (a *agent) capabilities() acp.InitializeResponse {
	caps := acp.AgentCapabilities{LoadSession: !a.options.NoLoad, PromptCapabilities: acp.PromptCapabilities{Image: true}}
	if !a.options.NoResume && !a.options.NoLoad {
		caps.SessionCapabilities.Resume = &acp.Empty{}
	}
	caps.SessionCapabilities.List = &acp.Empty{}
	return acp.InitializeResponse{
		ProtocolVersion: acp.Version1, AgentCapabilities: caps, AgentInfo: &acp.Implementation{Name: "fake-agent", Version: "1.0"},
	}
}

func (a *agent) setMode(r *acp.Request) {
	var p acp.SetModeRequest
	if err := r.Decode(&p); err != nil {
		r.Reply(nil, err)
		return
	}
	a.mu.Lock()
	a.modes[p.SessionID] = p.ModeID
	mute := a.mute
	a.mu.Unlock()
	if !mute {
		r.Reply(acp.Empty{}, nil)
	}
}

// mode returns the mode of a session.
func (a *agent) mode(session string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.modes[session], a.options.Mode, "ask")
}

func (a *agent) modeState(session string) *acp.ModeState {
	return &acp.ModeState{CurrentModeID: a.mode(session), AvailableModes: []acp.Mode{{ID: "ask", Name: "Ask"}, {ID: "bypass", Name: "Bypass"}}}
}

// setOther changes the model, or the option loud.
func (a *agent) setOther(r *acp.Request) {
	var model acp.SetModelRequest
	var p acp.SetConfigOptionRequest
	if err := errors.Join(r.Decode(&model), r.Decode(&p)); err != nil {
		r.Reply(nil, err)
		return
	}
	name, value := "model", model.ModelID
	if r.Method == acp.MethodSetConfigOption {
		name, value = p.ConfigID, string(p.Value)
		if p.Type != acp.OptionBoolean || value != "true" && value != "false" {
			r.Reply(nil, acp.Errorf(acp.CodeInvalidParams, "the option %s is a boolean, not %s", name, value))
			return
		}
	}
	a.mu.Lock()
	if a.other[p.SessionID] == nil {
		a.other[p.SessionID] = map[string]string{}
	}
	a.other[p.SessionID][name] = value
	a.mu.Unlock()
	r.Reply(acp.SetConfigOptionResponse{ConfigOptions: a.state(p.SessionID).ConfigOptions}, nil)
}

// option returns the value of the model or of another option of a session.
func (a *agent) option(session, name, without string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return cmp.Or(a.other[session][name], without)
}

// state is a session as it is now: modes and models in the old way, and other options.
func (a *agent) state(id string) acp.SessionState {
	flag := func(id, name, category, value string) acp.ConfigOption {
		return acp.ConfigOption{ID: id, Name: name, Category: category, Type: acp.OptionBoolean, CurrentValue: json.RawMessage(value)}
	}
	options := []acp.ConfigOption{flag("loud", "Loud", acp.CategoryModelConfig, a.option(id, "loud", "false"))}
	if a.options.Trusts {
		options = append(options, flag("trust", "Trust", "trust", a.option(id, "trust", "false")))
	}
	return acp.SessionState{
		SessionID: id, Modes: a.modeState(id), ConfigOptions: options,
		Models: &acp.ModelState{CurrentModelID: a.option(id, "model", "small"), AvailableModels: []acp.Model{{ID: "small", Name: "Small"}, {ID: "large", Name: "Large"}}},
	}
}

func (a *agent) begin(r *acp.Request) {
	if a.options.Login {
		r.Reply(nil, acp.Errorf(acp.CodeAuthRequired, "Authentication required"))
		return
	}
	a.mu.Lock()
	a.made++
	id := fmt.Sprintf("fake-%d-%d", os.Getpid(), a.made)
	a.mu.Unlock()
	if err := a.save(id, nil); err != nil {
		r.Reply(nil, err)
		return
	}
	r.Reply(a.state(id), nil)
}

// again loads or resumes a session. A load replays the prompts.
func (a *agent) again(r *acp.Request) {
	var p acp.LoadSessionRequest
	if err := r.Decode(&p); err != nil {
		r.Reply(nil, err)
		return
	}
	prompts, err := a.load(p.SessionID)
	if err != nil {
		r.Reply(nil, acp.Errorf(acp.CodeNotFound, "no session %s", p.SessionID))
		return
	}
	load := r.Method == acp.MethodLoadSession
	r.Go(func(ctx context.Context) (any, error) {
		for i := 0; load && i < len(prompts); i++ {
			text := acp.Text(prompts[i])
			if err := a.update(ctx, p.SessionID, acp.Update{Kind: acp.UpdateUserChunk, Content: &text}); err != nil {
				return nil, err
			}
		}
		return a.state(p.SessionID), nil
	})
}

func (a *agent) list() acp.ListSessionsResponse {
	response := acp.ListSessionsResponse{Sessions: []acp.SessionInfo{}}
	files, _ := filepath.Glob(filepath.Join(a.options.Home, "*.json"))
	for _, file := range files {
		response.Sessions = append(response.Sessions, acp.SessionInfo{SessionID: strings.TrimSuffix(filepath.Base(file), ".json"), Cwd: "/"})
	}
	return response
}

func (a *agent) file(id string) string {
	return filepath.Join(a.options.Home, filepath.Base(id)+".json")
}

func (a *agent) load(id string) (prompts []string, err error) {
	data, err := os.ReadFile(a.file(id))
	if err != nil {
		return nil, err
	}
	return prompts, json.Unmarshal(data, &prompts)
}

func (a *agent) save(id string, prompts []string) error {
	if a.options.Home == "" {
		return nil
	}
	data, err := json.Marshal(append([]string{}, prompts...))
	if err != nil {
		return err
	}
	return os.WriteFile(a.file(id), data, 0o600)
}

func (a *agent) update(ctx context.Context, sessionID string, u acp.Update) error {
	return a.conn.Notify(ctx, acp.MethodUpdate, acp.SessionNotification{SessionID: sessionID, Update: u})
}
