package mcp

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/scorel/scorel/apps/host/internal/agent"
)

// TestPeopleMayTakeTheirTime: the limit of a call does not count while people are asked, and
// counts before and after.
func TestPeopleMayTakeTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &askings{}
		slow := func(ctx context.Context, _ agent.Question) (agent.Reply, error) {
			select {
			case <-time.After(time.Hour):
			case <-ctx.Done():
			}
			return agent.Reply{Outcome: agent.Answered, Answer: choiceAccept}, ctx.Err()
		}
		ctx, one := a.begin(t.Context(), agent.Call{Ask: slow}, &server{spec: spec{name: "docs", call: 3 * time.Second}})
		defer a.end(one)
		begun := time.Now()
		time.Sleep(time.Second)
		for range 2 {
			if got, err := a.elicit(ctx, &sdk.ElicitRequest{Params: &sdk.ElicitParams{Message: "Go?"}}); err != nil || got.Action != "accept" {
				t.Errorf("the server got %+v, %v", got, err)
			}
		}
		<-ctx.Done()
		if took := time.Since(begun); took != 2*time.Hour+3*time.Second {
			t.Errorf("the call ended after %v", took)
		}
	})
}

// TestAQuestionWithoutACall: people are asked only for the call that a question belongs to.
func TestAQuestionWithoutACall(t *testing.T) {
	a := &askings{}
	asked := 0
	ask := func(context.Context, agent.Question) (agent.Reply, error) {
		asked++
		return agent.Reply{Outcome: agent.Answered, Answer: choiceAccept}, nil
	}
	docs := &server{spec: spec{name: "docs", call: time.Hour}}
	elicit := func(ctx context.Context, action string, want int) {
		t.Helper()
		got, err := a.elicit(ctx, &sdk.ElicitRequest{Params: &sdk.ElicitParams{Message: "Go?"}})
		if err != nil || got.Action != action || asked != want {
			t.Errorf("the server got %+v, %v, and people were asked %d times", got, err, asked)
		}
	}
	elicit(t.Context(), "decline", 0)
	ctx, one := a.begin(t.Context(), agent.Call{Ask: ask}, docs)
	elicit(t.Context(), "accept", 1) // an older revision does not name the only call
	elicit(context.WithValue(t.Context(), askingKey{}, (*asking)(nil)), "decline", 1)
	_, two := a.begin(t.Context(), agent.Call{Ask: ask}, docs)
	elicit(t.Context(), "decline", 1)
	elicit(ctx, "accept", 2)
	a.end(one)
	a.end(two)
	elicit(t.Context(), "decline", 2)
}
