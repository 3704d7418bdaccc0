package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

// worker follows a session while the host writes a summary in it.
type worker struct {
	c       *client.Client
	ended   chan api.WorkEnded
	entries chan session.Entry // compactions and branch summaries
}

// follow connects and subscribes to a session.
func (t *target) follow(ctx context.Context, id string) (*worker, error) {
	transport, err := t.dial(ctx)
	if err != nil {
		return nil, err
	}
	w := &worker{ended: make(chan api.WorkEnded, 1), entries: make(chan session.Entry, 1)}
	w.c = client.New(transport, func(e api.EventEnvelope) {
		if e.SessionID != id {
			return
		}
		switch event := e.Event.(type) {
		case api.EntryAppended:
			if t := event.Entry.Type; t == session.TypeCompaction || t == session.TypeBranchSummary {
				select {
				case w.entries <- event.Entry:
				default: // the first one is ours: nothing else runs at the same time
				}
			}
		case api.WorkEnded:
			select {
			case w.ended <- event:
			default:
			}
		}
	})
	if _, err := client.Call(ctx, w.c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id}); err != nil {
		return nil, errors.Join(err, w.c.Close())
	}
	return w, nil
}

func (w *worker) close() { _ = w.c.Close() } // the response was received

// wait returns the entry that the work ends with.
func (w *worker) wait(ctx context.Context) (session.Entry, error) {
	select {
	case ended := <-w.ended:
		if ended.Error != "" {
			return session.Entry{}, fmt.Errorf("the summary could not be saved: %s", ended.Error)
		}
		select {
		case entry := <-w.entries: // it arrives before the end
			return entry, nil
		default:
			return session.Entry{}, errors.New("the summary ended without a result: look at the session with scorel session show")
		}
	case <-w.c.Done():
		return session.Entry{}, w.c.Err()
	case <-ctx.Done():
		return session.Entry{}, fmt.Errorf("interrupted: the host continues the summary: %w", context.Cause(ctx))
	}
}

func newSessionNavigate(a *app) *cobra.Command {
	var summarize bool
	cmd := &cobra.Command{
		Use:   "navigate ID ENTRY",
		Short: "Move a session to any entry of its tree",
		Long: `Go to the end of a turn on any branch, or to the point before a user message, whose text is
printed. --summarize carries over a summary of the abandoned branch.`,
		Example: "  scorel session tree ID\n  scorel session navigate ID 1a2b3c4d --summarize",
		Args:    argCount(2, 2, "the ids of one session and of one of its entries"),
	}
	f := a.moveFlags(cmd)
	cmd.Flags().BoolVar(&summarize, "summarize", false, "carry over a summary of the abandoned branch")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		w, err := f.to.follow(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		defer w.close()
		expected, err := f.expected(cmd.Context(), w.c, args[0])
		if err != nil {
			return err
		}
		response, err := client.Call(cmd.Context(), w.c, api.NavigateSession, api.NavigateSessionRequest{
			SessionID: args[0], ClientKey: rand.Text(), ExpectedLeaf: expected, TargetEntryID: args[1], Summarize: summarize,
		})
		if err != nil {
			return err
		}
		if response.Working {
			entry, err := w.wait(cmd.Context())
			if err != nil {
				return err
			}
			response.LeafID, response.Working = entry.ID, false
		}
		return printMove(a.console, f, response)
	}
	return cmd
}

func newSessionCompact(a *app) *cobra.Command {
	var (
		asJSON       bool
		instructions string
	)
	cmd := &cobra.Command{
		Use:   "compact ID",
		Short: "Replace the older part of a session's context with a summary",
		Long: `Replace the older part of a session's model context with a summary, and print it. The log
keeps everything. The summary is written by auxiliary_model of the host's config.toml, or
without one, by the session's own model.`,
		Example: "  scorel session compact ID\n  scorel session compact ID --instructions \"keep the API decisions\" --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&instructions, "instructions", "", "what the summary should focus on")
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return compactSession(cmd.Context(), a.stdout, to, args[0], instructions, asJSON)
	}
	return cmd
}

// compactSession compacts a session and prints the summary.
func compactSession(ctx context.Context, stdout io.Writer, to *target, id, instructions string, asJSON bool) error {
	w, err := to.follow(ctx, id)
	if err != nil {
		return err
	}
	defer w.close()
	_, err = client.Call(ctx, w.c, api.CompactSession, api.CompactSessionRequest{
		SessionID: id, ClientKey: rand.Text(), Instructions: instructions,
	})
	if err != nil {
		return err
	}
	entry, err := w.wait(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return printJSON(stdout, entry)
	}
	_, err = fmt.Fprintln(stdout, printableLines(entry.Text("summary")))
	return err
}
