package sessionapi

import (
	"context"
	"errors"

	"github.com/scorel/scorel/apps/host/internal/dispatch"
	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
)

// ResyncEvents subscribes the connection to a session. The goroutine of the session calls
// reply, so that the answer precedes every event that follows.
func (s *Sessions) ResyncEvents(ctx context.Context, c *dispatch.Conn, r api.ResyncEventsRequest, reply func(api.ResyncEventsResponse)) error {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return err
	}
	answers := c.Grants()
	if r.Unattended {
		answers = nil
	}
	c.Shows(r.SessionID, !r.Unattended) // before the answer: who has it looks
	err = opened.Resync(ctx, r.Anchors, c, answers, func(response api.ResyncEventsResponse) {
		if c.Guest() {
			response.Session = dispatch.GuestSummary(response.Session)
			response.Entries, response.Events = dispatch.GuestEntries(response.Entries), dispatch.GuestEvents(response.Events)
		}
		reply(response)
	})
	if err == nil {
		c.Subscribed(r.SessionID, func(ctx context.Context) { opened.Unsubscribe(ctx, c) })
	}
	return err
}

// setAttendance has the sessions that wait for a person check again who is there.
func (s *Sessions) setAttendance(_ context.Context, c *dispatch.Conn, r api.SetAttendanceRequest) (api.Empty, error) {
	hidden := c.SetHidden(r.Hidden)
	if c.SetAway(!r.Attended) {
		s.manager.Attend()
		hidden = true
	}
	if hidden {
		s.looked()
	}
	return none, nil
}

func (s *Sessions) unsubscribe(ctx context.Context, c *dispatch.Conn, r api.SessionRequest) (api.Empty, error) {
	c.Unsubscribe(ctx, r.SessionID)
	s.looked()
	return none, nil
}

// GetEntries returns a page of a session's log.
func (s *Sessions) GetEntries(ctx context.Context, c *dispatch.Conn, r api.GetEntriesRequest) (api.GetEntriesResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.GetEntriesResponse{}, err
	}
	response, err := opened.Entries(ctx, r)
	if c.Guest() {
		response.Entries = dispatch.GuestEntries(response.Entries)
	}
	return response, err
}

func (s *Sessions) getSnapshot(ctx context.Context, _ *dispatch.Conn, r api.SessionRequest) (api.GetSnapshotResponse, error) {
	opened, err := s.manager.Open(r.SessionID)
	if err != nil {
		return api.GetSnapshotResponse{}, err
	}
	return opened.Snapshot(ctx)
}

func (s *Sessions) getProcessLog(_ context.Context, c *dispatch.Conn, r api.GetProcessLogRequest) (api.GetProcessLogResponse, error) {
	page, err := process.Page{}, process.ErrNoLog
	if sessionID, refErr := process.SessionOf(r.ProcessLogRef); refErr != nil || c.SeesSession(sessionID) {
		page, err = s.processes.Read(r.ProcessLogRef, r.From, r.Limit)
	}
	switch {
	case errors.Is(err, process.ErrRef):
		return api.GetProcessLogResponse{}, api.Errorf(api.KindBadRequest, "processLogRef is invalid: copy it from a process_event or a scorel.process entry")
	case errors.Is(err, process.ErrNoLog):
		return api.GetProcessLogResponse{}, api.Errorf(api.KindNotFound, "this process log is not on this host, or no longer")
	}
	return api.GetProcessLogResponse{Lines: page.Lines, Next: page.Next, More: page.More}, err
}
