package sessions

import (
	"context"

	"github.com/scorel/scorel/apps/host/internal/process"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// operations publishes what long operations report, and writes the records of those that have
// ended. The session's goroutine owns it.
type operations struct {
	*core
	sink *process.Sink
}

// update publishes what operations have reported, and writes the records of those that have
// ended. The log of a sleeping session is opened for a record only; if that fails, the next
// opening finds the log of the operation.
func (o *operations) update(ctx context.Context) {
	if o.log == nil && o.sink.Ended() {
		if err := o.open(ctx); err != nil && !o.closing {
			o.logger.Error("opening a session to record the end of an operation", "session", o.id, "error", err)
		}
	}
	for _, change := range o.sink.Take() {
		if o.log == nil {
			continue
		}
		o.publish(api.ProcessChanged{Process: change.Process})
		if change.Record != nil {
			o.write(*change.Record)
		}
	}
}

func (o *operations) write(record process.Record) {
	if err := o.appendCustom(session.CustomProcess, record, ""); err != nil {
		o.logger.Error("storing the record of an operation", "session", o.id, "error", err)
	}
}

// endOrphans writes the records of operations that were running when the host before this one
// ended.
func (o *operations) endOrphans() {
	known := map[string]bool{}
	for _, entry := range o.log.Tree().Entries() {
		if record, ok := entry.AsProcess(); ok {
			known[record.OperationID] = true
		}
	}
	for _, record := range o.sink.Orphans(func(id string) bool { return known[id] }) {
		o.write(record)
	}
}
