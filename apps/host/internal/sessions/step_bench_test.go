//go:build unix

package sessions_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/scorel/scorel/apps/host/internal/agent"
	"github.com/scorel/scorel/apps/host/internal/model/modeltest"
	"github.com/scorel/scorel/apps/host/internal/sessions"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// BenchmarkStepOfSession is a turn of 20 steps in a session that is long already, with its
// log on disk, each line synced; an entry watches. The model answers at once.
func BenchmarkStepOfSession(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f := newFixture(b, looking{}, echoTool{agent.RiskRead})
			f.deps.Summaries.Share = 0.8
			m := f.manager(b)
			summary, err := m.Import(b.Context(), f.project.ID, "s", sessions.LongLog(n))
			if err != nil {
				b.Fatal(err)
			}
			s, ends := open(b, m, summary.ID), make(ended, 1)
			if err := s.Resync(b.Context(), api.Anchors{}, ends, nil, func(api.ResyncEventsResponse) {}); err != nil {
				b.Fatal(err)
			}
			before, begun, turns := sessions.CPUTime(b), time.Now(), 0
			for b.Loop() {
				turns++
				send(b, s, fmt.Sprint("key", turns), "go on")
				if stop := <-ends; stop != session.StopEnd {
					b.Fatal(stop)
				}
			}
			b.ReportMetric(float64(time.Since(begun).Microseconds())/float64(turns*stepsOfTurn), "µs/step")
			b.ReportMetric(float64((sessions.CPUTime(b)-before).Microseconds())/float64(turns*stepsOfTurn), "CPU-µs/step")
		})
	}
}

const stepsOfTurn = 20

// looking calls a tool in all steps of a turn but the last one.
type looking struct{}

func (looking) Stream(_ context.Context, req agent.Request, _ func(agent.Delta)) session.Message {
	done := 0
	for i := len(req.Messages) - 1; i >= 0 && req.Messages[i].Role != session.RoleUser; i-- {
		if req.Messages[i].Role == session.RoleAssistant {
			done++
		}
	}
	content := session.Content{session.Text("Done.")}
	if done < stepsOfTurn-1 {
		content = session.Content{modeltest.Call(fmt.Sprintf("c%d_%d", len(req.Messages), done), "echo", fmt.Sprintf(`{"n":%d}`, done))}
	}
	return session.Message{Role: session.RoleAssistant, Content: content}
}

// ended is an entry that waits for the ends of turns.
type ended chan session.StopReason

func (ended) Away() bool { return false }

func (ended) May(api.Grant) bool { return true }

func (e ended) Deliver(event api.EventEnvelope, _ []byte) {
	if end, ok := event.Event.(api.TurnEnded); ok {
		e <- end.StopReason
	}
}
