// Package sessionapi answers the requests about sessions. A handler checks what depends on
// the connection, such as grants and the highest mode, and calls the session.
package sessionapi

import (
	"context"
	"log/slog"

	"github.com/scorel/scorel/apps/host/internal/blobs"
	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/permission"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/apps/host/internal/signing"
	"github.com/scorel/scorel/apps/host/internal/state"
	"github.com/scorel/scorel/apps/host/internal/transcripts"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

var none = api.Empty{}

// Options are the parts that the handlers call. All but RemoteMode and Looked are required.
type Options struct {
	Manager    *sessions.Manager
	Hub        *dispatch.Hub
	Projects   *state.Projects
	Processes  *process.Logs
	Blobs      *blobs.Store
	Signing    *signing.Signing
	Scratch    func(sessionID string) string // the session's own folder, which its tools can read
	Logger     *slog.Logger
	Budgets    *state.BudgetStore
	RemoteMode api.Mode // the highest mode that a connection without the local grant may set
	// Transcripts reads the conversations that other agents keep on this machine.
	Transcripts *transcripts.Reader
	// Looked is called after someone may have stopped looking at a session; nil is not called.
	Looked func()
}

// Sessions answers the requests about sessions.
type Sessions struct {
	manager    *sessions.Manager
	hub        *dispatch.Hub
	projects   *state.Projects
	processes  *process.Logs
	blobs      *blobs.Store
	signing    *signing.Signing
	scratch    func(sessionID string) string
	remoteMode api.Mode
	log        *slog.Logger
	budgets    *state.BudgetStore
	foreign    *transcripts.Reader
	looked     func()
}

// New makes the handlers.
func New(o Options) *Sessions {
	if o.Looked == nil {
		o.Looked = func() {}
	}
	return &Sessions{
		looked: o.Looked, manager: o.Manager, hub: o.Hub, projects: o.Projects, processes: o.Processes, blobs: o.Blobs, signing: o.Signing,
		foreign: o.Transcripts, scratch: o.Scratch, remoteMode: o.RemoteMode, log: o.Logger, budgets: o.Budgets,
	}
}

// Endpoints are the requests about sessions.
func (s *Sessions) Endpoints() []dispatch.Endpoint {
	return []dispatch.Endpoint{
		dispatch.Serve(api.ListSessions, s.listSessions),
		dispatch.Serve(api.SearchSessions, s.searchSessions),
		dispatch.Serve(api.CreateSession, s.createSession),
		dispatch.Serve(api.ReviewNotes, s.reviewNotes),
		dispatch.Serve(api.RenameSession, s.renameSession),
		dispatch.Serve(api.VerifySession, s.verifySession),
		dispatch.Serve(api.UpdateSession, s.updateSession),
		dispatch.Serve(api.GetSnapshot, s.getSnapshot),
		dispatch.Serve(api.SetModel, s.setModel),
		dispatch.Serve(api.SetMode, s.setMode),
		dispatch.Serve(api.SetBackend, s.setBackend),
		dispatch.Serve(api.GetBackend, s.getBackend),
		dispatch.Serve(api.SetBackendOption, s.setBackendOption),
		dispatch.Serve(api.DeleteSession, s.deleteSession),
		dispatch.Serve(api.CopySession, s.copySession),
		dispatch.Serve(api.ImportSession, s.importSession),
		dispatch.Serve(api.ListTranscripts, s.listTranscripts),
		dispatch.Serve(api.ImportTranscript, s.importTranscript),
		dispatch.Serve(api.ForkSession, s.forkSession),
		dispatch.Serve(api.GetTree, s.getTree),
		dispatch.Serve(api.ListVersions, s.listVersions),
		dispatch.Serve(api.RewindSession, s.rewindSession),
		dispatch.Serve(api.NavigateSession, s.navigateSession),
		dispatch.Serve(api.SetLabel, s.setLabel),
		dispatch.Serve(api.CompactSession, s.compactSession),
		dispatch.Serve(api.GetBudgets, s.getBudgets),
		dispatch.Serve(api.SetBudget, s.setBudget),
		dispatch.Serve(api.LiftBudget, s.liftBudget),
		dispatch.Serve(api.EditQueue, s.editQueue),
		dispatch.ServeLater(api.ResyncEvents, s.ResyncEvents),
		dispatch.Serve(api.GetEntries, s.GetEntries),
		dispatch.Serve(api.GetProcessLog, s.getProcessLog),
		dispatch.Serve(api.SetAttendance, s.setAttendance),
		dispatch.Serve(api.Unsubscribe, s.unsubscribe),
		dispatch.Serve(api.SendPrompt, s.SendPrompt),
		dispatch.Serve(api.UploadBlob, s.uploadBlob),
		dispatch.Serve(api.GetBlob, s.getBlob),
		dispatch.Serve(api.CancelTurn, s.cancelTurn),
		dispatch.Serve(api.AnswerApproval, s.answerApproval),
		dispatch.Serve(api.AnswerQuestion, s.answerQuestion),
	}
}

// MaxMode is the highest mode that a connection may set.
func (s *Sessions) MaxMode(c *dispatch.Conn) api.Mode {
	return permission.Cap(c.Grants(), s.remoteMode)
}

func (s *Sessions) listSessions(_ context.Context, c *dispatch.Conn, r api.ListSessionsRequest) (api.ListSessionsResponse, error) {
	if r.Watching && s.hub.Watch(c) {
		s.manager.Attend()
	}
	return s.manager.Page(r, c.Projects())
}

func (s *Sessions) searchSessions(ctx context.Context, c *dispatch.Conn, r api.SearchSessionsRequest) (api.SearchSessionsResponse, error) {
	return s.manager.Search(ctx, r, c.Projects())
}

func (s *Sessions) renameSession(ctx context.Context, c *dispatch.Conn, r api.RenameSessionRequest) (api.Empty, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return none, err
	}
	return none, opened.Rename(ctx, c.ClientID(), r.Name)
}

func (s *Sessions) updateSession(ctx context.Context, c *dispatch.Conn, r api.UpdateSessionRequest) (api.UpdateSessionResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.UpdateSessionResponse{}, err
	}
	summary, err := opened.Update(ctx, c.ClientID(), r)
	return api.UpdateSessionResponse{Session: summary}, err
}

func (s *Sessions) deleteSession(ctx context.Context, _ *dispatch.Conn, r api.SessionRequest) (api.DeleteSessionResponse, error) {
	kept, err := s.manager.Delete(ctx, r.SessionID)
	return api.DeleteSessionResponse{Worktree: kept}, err
}

func (s *Sessions) copySession(ctx context.Context, _ *dispatch.Conn, r api.CopySessionRequest) (api.Empty, error) {
	return none, s.manager.Copy(ctx, r.SessionID, r.To, r.Move)
}

func (s *Sessions) verifySession(ctx context.Context, _ *dispatch.Conn, r api.VerifySessionRequest) (api.VerifySessionResponse, error) {
	var known []session.ChainValue
	if r.Contains != "" {
		value, err := session.ParseChainValue(r.Contains)
		if err != nil {
			return api.VerifySessionResponse{}, api.Errorf(api.KindBadRequest, "contains is not a chain value: use the 43 characters that an earlier verification showed")
		}
		known = append(known, value)
	}
	p, err := s.manager.Proof(ctx, r.SessionID, known...)
	if err != nil {
		return api.VerifySessionResponse{}, err
	}
	s.signing.NameDeciders(p.Approvals)
	return api.VerifySessionResponse{Proof: p}, nil
}
