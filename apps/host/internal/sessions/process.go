package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// hear tells the entries what operations report, and keeps the records of those that
// have ended. A session that sleeps is woken for a record only; where that fails, the
// next opening finds the log of the operation.
func (s *Session) hear(ctx context.Context) {
	if s.log == nil && s.process.Ended() {
		if err := s.wake(ctx); err != nil && !s.closing {
			s.deps.Logger.Error("opening a session for the end of an operation", "session", s.id, "error", err)
		}
	}
	for _, change := range s.process.Take() {
		if s.log == nil {
			continue
		}
		s.publish(api.ProcessChanged{Process: change.Process})
		if change.Record != nil {
			s.keepProcess(*change.Record)
		}
	}
}

func (s *Session) keepProcess(record process.Record) {
	if err := s.keepCustom(session.CustomProcess, record, ""); err != nil {
		s.deps.Logger.Error("keeping the record of an operation", "session", s.id, "error", err)
	}
}

// endOrphans keeps the records of operations that the host did not outlive.
func (s *Session) endOrphans() {
	known := map[string]bool{}
	for _, entry := range s.log.Tree().Entries() {
		if record, ok := entry.AsProcess(); ok {
			known[record.OperationID] = true
		}
	}
	for _, record := range s.process.Orphans(func(id string) bool { return known[id] }) {
		s.keepProcess(record)
	}
}
