package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newSessionQueue(a *app) *cobra.Command {
	return group("queue", "List and change the queued prompts of a session",
		"  scorel session queue list ID\n  scorel session queue move ID 7QF3 first",
		newQueueList(a), newQueueEdit(a), newQueueRemove(a), newQueueMove(a))
}

// queueFlags are the flags of every command for a queue.
type queueFlags struct {
	con    console
	to     *target
	asJSON bool
}

func (a *app) queueFlags(cmd *cobra.Command) *queueFlags {
	f := &queueFlags{con: a.console, to: a.targetFlag(cmd)}
	addJSON(cmd, &f.asJSON)
	return f
}

type queue = []session.QueuedPrompt

func newQueueList(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list ID",
		Short: "List the queued prompts of a session",
		Long: `List the queued prompts in the order in which they will run. Other commands name a prompt by
its key, or by at least its first 4 characters. With --json, each line is one prompt.`,
		Example: "  scorel session queue list ID\n  scorel session queue list ID --json",
		Args:    argCount(1, 1, "the id of one session"),
	}
	f := a.queueFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, waiting, err := f.load(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		_ = c.Close() // everything was received
		return f.print(waiting)
	}
	return cmd
}

func newQueueEdit(a *app) *cobra.Command {
	var mode string
	cmd := &cobra.Command{
		Use:   "edit ID KEY [TEXT]",
		Short: "Edit a queued prompt, or let it steer the running turn",
		Long: `Replace the text of a queued prompt; "-" reads it from standard input. With --mode steer,
the running turn gets it at its next step; with follow_up, it runs after that turn.`,
		Example: "  scorel session queue edit ID 7QF3 \"and run the tests\"\n  scorel session queue edit ID 7QF3 --mode steer",
		Args:    argCount(2, 3, "the id of one session, the key of a prompt, and its new text in quotes"),
	}
	f := a.queueFlags(cmd)
	cmd.Flags().StringVar(&mode, "mode", "", "when it is delivered: steer or follow_up (default: unchanged)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		item := api.QueueItem{Mode: session.PromptMode(mode)}
		if !slices.Contains([]session.PromptMode{"", session.ModeSteer, session.ModeFollowUp}, item.Mode) {
			return usagef("--mode %q is not a mode: give steer or follow_up", mode)
		}
		if len(args) == 2 && mode == "" {
			return usagef("the change is missing: give the new text in quotes, or --mode")
		}
		if len(args) == 3 {
			text, _, err := promptText(cmd.Context(), a.console, args[2])
			if err != nil {
				return err
			}
			item.Text = text
		}
		return f.change(cmd.Context(), args[0], func(waiting queue) ([]api.QueueItem, error) {
			i, err := findQueued(waiting, args[1])
			if err != nil {
				return nil, err
			}
			items := queueItems(waiting)
			items[i].Text, items[i].Mode = item.Text, item.Mode
			return items, nil
		})
	}
	return cmd
}

func newQueueRemove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove ID KEY...",
		Short:   "Remove prompts from the queue",
		Example: "  scorel session queue remove ID 7QF3\n  scorel session queue remove ID 7QF3 M2KD",
		Args:    argCount(2, 1+api.MaxQueue, "the id of one session and the keys of queued prompts"),
	}
	f := a.queueFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.change(cmd.Context(), args[0], func(waiting queue) ([]api.QueueItem, error) {
			gone := map[string]bool{}
			for _, given := range args[1:] {
				i, err := findQueued(waiting, given)
				if err != nil {
					return nil, err
				}
				gone[waiting[i].ClientKey] = true
			}
			return slices.DeleteFunc(queueItems(waiting), func(item api.QueueItem) bool { return gone[item.ClientKey] }), nil
		})
	}
	return cmd
}

func newQueueMove(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "move ID KEY PLACE",
		Short:   "Move a queued prompt: to a number from 1, first or last",
		Example: "  scorel session queue move ID 7QF3 first\n  scorel session queue move ID 7QF3 2",
		Args:    argCount(3, 3, "the id of one session, the key of a prompt, and its place"),
	}
	f := a.queueFlags(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return f.change(cmd.Context(), args[0], func(waiting queue) ([]api.QueueItem, error) {
			i, err := findQueued(waiting, args[1])
			if err != nil {
				return nil, err
			}
			place, err := queuePlace(args[2], len(waiting))
			if err != nil {
				return nil, err
			}
			items := queueItems(waiting)
			moved := items[i]
			return slices.Insert(slices.Delete(items, i, i+1), place, moved), nil
		})
	}
	return cmd
}

// queuePlace parses a position among n as an index.
func queuePlace(text string, n int) (int, error) {
	switch text {
	case "first":
		return 0, nil
	case "last":
		return n - 1, nil
	}
	place, err := strconv.Atoi(text)
	if err != nil || place < 1 || place > n {
		return 0, usagef("there is no position %q: give first, last or a number from 1 to %d", clip(text, 40), n)
	}
	return place - 1, nil
}

// findQueued finds the prompt with a key, or with the beginning of one.
func findQueued(waiting queue, given string) (int, error) {
	found, err := named[session.QueuedPrompt]{
		what: "queued prompt", id: "key", list: "scorel session queue list", gone: errNotQueued,
		ids: func(q session.QueuedPrompt) (id, name string) { return q.ClientKey, "" },
	}.find(waiting, given)
	return slices.IndexFunc(waiting, func(q session.QueuedPrompt) bool { return q.ClientKey == found.ClientKey }), err
}

// errNotQueued reports that a prompt is not, or no longer, queued.
var errNotQueued = errors.New("it is not queued")

// queueItems leaves every prompt unchanged.
func queueItems(waiting queue) []api.QueueItem {
	items := make([]api.QueueItem, 0, len(waiting))
	for _, q := range waiting {
		items = append(items, api.QueueItem{ClientKey: q.ClientKey})
	}
	return items
}

// load connects and reads the queue. The caller must close the client.
func (f *queueFlags) load(ctx context.Context, id string) (*client.Client, queue, error) {
	c, err := f.to.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	response, err := client.Call(ctx, c, api.ResyncEvents, api.ResyncEventsRequest{SessionID: id})
	if err != nil {
		_ = c.Close() // the other error is more useful
		return nil, nil, err
	}
	return c, response.Live.Queue, nil
}

// change edits the current queue and prints the result. The host refuses the edit if the
// queue changed in between, so no other prompt is affected.
func (f *queueFlags) change(ctx context.Context, id string, edit func(queue) ([]api.QueueItem, error)) error {
	c, waiting, err := f.load(ctx, id)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // the response was received
	items, err := edit(waiting)
	if err != nil {
		return err
	}
	request := api.EditQueueRequest{SessionID: id, Expected: []string{}, Items: items}
	for _, q := range waiting {
		request.Expected = append(request.Expected, q.ClientKey)
	}
	response, err := client.Call(ctx, c, api.EditQueue, request)
	if err != nil {
		return err
	}
	return f.print(response.Queue)
}

func (f *queueFlags) print(waiting queue) error {
	return printList(f.con.stdout, f.asJSON, waiting, listing[session.QueuedPrompt]{
		none:   "no prompts are queued in this session",
		header: []string{"PLACE", "KEY", "TAKEN", "SENT", "TEXT"},
		row: func(i int, q session.QueuedPrompt) []string {
			taken := "follow_up"
			if q.Mode != "" {
				taken = string(q.Mode)
			}
			return []string{strconv.Itoa(i + 1), q.ClientKey, taken, formatMillis(q.QueuedAt), clip(q.Text, 60)}
		},
	})
}
