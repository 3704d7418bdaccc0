package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/ident"
)

// thisMachine names the host on this machine as the destination of a move.
const thisMachine = "local"

// handOverFlags are the flags of session move.
type handOverFlags struct {
	con                  console
	from                 *target
	to, project          string
	wait, cancel, asJSON bool
	withFiles            bool
	lastState            api.MoveState
	lastTrouble          string
	lastPercent          int64
}

func newSessionMove(a *app) *cobra.Command {
	f := &handOverFlags{con: a.console, lastPercent: -1}
	cmd := &cobra.Command{
		Use:   "move ID --to DEVICE",
		Short: "Move a session to another machine",
		Long: `Move a session to the host of another paired machine: its log, queued prompts, open approvals and
questions, attached files and subagent sessions. The two hosts connect to each other directly,
sealed to the keys that this machine has pinned, and exactly one of them has the session at any
time, also after a crash. A host that is down delays the move; --cancel cancels it until the
other host has everything.

A turn must end first (--wait), unless it waits for a person. What was allowed here is not
allowed on the other machine: the mode there is at most "ask". Files of the project stay
where they are, unless --with-files moves them too: the history of the current commit, and
changed and new files that are not ignored and do not look like secrets. On the other machine they
get a git worktree and a branch of their own, and nothing there is overwritten. --with-files needs
the grant "files".`,
		Example: "  scorel session move ID --to desk\n  scorel session move ID --to desk --with-files\n  scorel session move ID --device desk --to local --wait",
		Args:    argCount(1, 1, "the id of one session"),
	}
	f.from = a.targetFlag(cmd)
	addJSON(cmd, &f.asJSON)
	cmd.Flags().StringVar(&f.to, "to", "", "paired device to move the session to, or \""+thisMachine+"\" for the host on this machine")
	cmd.Flags().StringVar(&f.project, "project", "", "id, name or folder of the project on the other machine (default: the same folder, or the same name)")
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until the running turn ends")
	cmd.Flags().BoolVar(&f.withFiles, "with-files", false, "move the files of the session's folder too, with changes that are not committed")
	cmd.Flags().BoolVar(&f.cancel, "cancel", false, "cancel the move of the session")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case f.cancel && f.to == "":
			return f.cancelMove(cmd.Context(), args[0])
		case f.cancel:
			return usagef("--cancel needs no --to: the session stays on the machine that it is on")
		case f.to == "":
			return usagef("--to is missing: give the device, as `scorel devices` shows it, or %s", thisMachine)
		}
		return f.move(cmd.Context(), args[0])
	}
	return cmd
}

func (f *handOverFlags) cancelMove(ctx context.Context, sessionID string) error {
	c, err := f.from.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }() // everything was received
	list, err := client.Call(ctx, c, api.ListMoves, api.Empty{})
	if err != nil {
		return err
	}
	for _, move := range list.Moves {
		if move.SessionID != sessionID || move.State == api.MoveCanceled || move.State == api.MoveDone {
			continue
		}
		response, err := client.Call(ctx, c, api.CancelMove, api.MoveRequest{MoveID: move.ID})
		if err != nil {
			return err
		}
		return printDone(f.con.stdout, f.asJSON, response.Move, "the move of %s is canceled", printable(sessionID))
	}
	return sayf(&api.Error{Kind: api.KindNotFound}, "no move of the session %s is under way", printable(sessionID))
}

func (f *handOverFlags) move(ctx context.Context, sessionID string) error {
	from, err := f.from.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // everything was received
	to := f.from.other("")
	if f.to != thisMachine {
		to.device = f.to
	}
	there, err := to.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = there.Close() }() // as above
	device, err := getHost(ctx, there)
	if err != nil {
		return err
	}
	projectID, err := f.projectThere(ctx, from, there, sessionID)
	if err != nil {
		return err
	}
	moveID, err := f.arrange(ctx, from, there, sessionID, device.DeviceID, projectID)
	if err != nil {
		return err
	}
	if err := f.watch(ctx, from, moveID, device.Label); err != nil || !f.withFiles {
		return err
	}
	return f.sayFolder(ctx, there, sessionID, moveID, device.Label)
}

// sayFolder says where the files are on the other machine.
func (f *handOverFlags) sayFolder(ctx context.Context, there *client.Client, sessionID, moveID, label string) error {
	snapshot, err := client.Call(ctx, there, api.GetSnapshot, api.SessionRequest{SessionID: sessionID})
	if err != nil {
		return sayf(err, "the session was moved, but the other machine does not say where its files are: %v", err)
	}
	if tree := snapshot.Session.Worktree; tree != nil {
		fmt.Fprintf(f.con.stderr, "its files on %s: %s, branch %s\n", printable(label), printable(tree.Folder), printable(tree.Branch))
		return nil
	}
	why := "see `scorel session show` there"
	if got, err := client.Call(ctx, there, api.GetMove, api.MoveRequest{MoveID: moveID}); err == nil && got.Move.Error != "" {
		why = printable(got.Move.Error)
	}
	return sayf(errNotMoved, "the session was moved, but not its files: %s", why)
}

// projectThere finds the project on the other machine.
func (f *handOverFlags) projectThere(ctx context.Context, from, there *client.Client, sessionID string) (string, error) {
	theirs, err := client.Call(ctx, there, api.ListProjects, api.Empty{})
	if err != nil {
		return "", err
	}
	find := func(same func(api.Project) bool) []api.Project {
		var found []api.Project
		for _, project := range theirs.Projects {
			if same(project) {
				found = append(found, project)
			}
		}
		return found
	}
	if f.project != "" {
		path := f.project
		if absolute, err := filepath.Abs(path); err == nil && f.to == thisMachine {
			path = absolute
		}
		found := find(func(p api.Project) bool { return p.ID == f.project || p.Path == path || p.Name == f.project })
		if len(found) == 1 {
			return found[0].ID, nil
		}
		return "", usagef("--project: the other machine has %d projects %q: `scorel project list --device %s` shows them", len(found), f.project, f.to)
	}
	here, err := f.projectHere(ctx, from, sessionID)
	if err != nil {
		return "", err
	}
	if found := find(func(p api.Project) bool { return p.Path == here.Path }); len(found) == 1 {
		return found[0].ID, nil
	}
	if found := find(func(p api.Project) bool { return p.Name == here.Name }); len(found) == 1 {
		return found[0].ID, nil
	}
	return "", usagef("the other machine has no single project like %s: choose one with --project, or add its folder there with `scorel project add`", printable(here.Path))
}

func (f *handOverFlags) projectHere(ctx context.Context, from *client.Client, sessionID string) (api.Project, error) {
	snapshot, err := client.Call(ctx, from, api.GetSnapshot, api.SessionRequest{SessionID: sessionID})
	if err != nil {
		return api.Project{}, err
	}
	ours, err := client.Call(ctx, from, api.ListProjects, api.Empty{})
	if err != nil {
		return api.Project{}, err
	}
	for _, project := range ours.Projects {
		if project.ID == snapshot.Session.ProjectID {
			return project, nil
		}
	}
	return api.Project{ID: snapshot.Session.ProjectID}, nil
}

// arrange introduces the two hosts to each other.
func (f *handOverFlags) arrange(ctx context.Context, from, there *client.Client, sessionID string, device ident.ID, projectID string) (moveID string, err error) {
	if f.wait && !f.asJSON {
		fmt.Fprintln(f.con.stderr, "waiting until the session rests")
	}
	prepared, err := client.Call(ctx, from, api.PrepareMove, api.PrepareMoveRequest{SessionID: sessionID, To: device, Wait: f.wait, WithFiles: f.withFiles})
	if err != nil {
		return "", hintWait(err, f.wait)
	}
	moveID = prepared.Move.ID
	err = f.checkOffer(prepared.Offer)
	var accepted api.AcceptMoveResponse
	if err == nil {
		accepted, err = client.Call(ctx, there, api.AcceptMove, api.AcceptMoveRequest{Offer: prepared.Offer, ProjectID: projectID})
	}
	if err == nil && ident.NewID(ident.KindDevice, ident.Public(accepted.Keys)) != device {
		err = sayf(errRefused, "the other machine sent keys that are not its own")
	}
	if err == nil {
		_, err = client.Call(ctx, from, api.StartMove, api.StartMoveRequest{MoveID: moveID, Keys: accepted.Keys, Paths: accepted.Paths, Proof: accepted.Proof})
	}
	if err == nil {
		return moveID, nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, c := range []*client.Client{from, there} {
		_, _ = client.Call(ctx, c, api.CancelMove, api.MoveRequest{MoveID: moveID}) // otherwise it expires
	}
	var refused *api.Error
	if errors.As(err, &refused) && refused.Kind == api.KindUnknownRequest {
		return "", sayf(err, "the host of the other machine is too old to receive a session: update scorel there")
	}
	if f.withFiles && errors.As(err, &refused) && refused.Kind == api.KindBadRequest && strings.HasPrefix(refused.Message, "the offer of the move is invalid: item") {
		return "", sayf(err, "the host of the other machine is too old to receive files: update scorel there, or move the session without --with-files")
	}
	return "", err
}

// checkOffer returns an error if the host has ignored that its files are to be moved too.
func (f *handOverFlags) checkOffer(offer api.MoveOffer) error {
	has := slices.ContainsFunc(offer.Items, func(item api.MoveItem) bool { return item.Kind == api.MoveTree })
	if f.withFiles && !has {
		return sayf(errNotMoved, "the host that has the session is too old to move files: update scorel there, or move the session without --with-files")
	}
	return nil
}

func hintWait(err error, waits bool) error {
	var refused *api.Error
	if !waits && errors.As(err, &refused) && refused.Kind == api.KindConflict && strings.HasPrefix(refused.Message, "a turn is running") {
		return sayf(err, "a turn is running: cancel it, or use --wait to move the session when it ends")
	}
	return err
}

// lookEvery is how often the command asks how far the move is.
const lookEvery = 200 * time.Millisecond

// watch shows how far the move is until it ends. The hosts continue without it.
func (f *handOverFlags) watch(ctx context.Context, c *client.Client, moveID, label string) error {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		response, err := client.Call(ctx, c, api.GetMove, api.MoveRequest{MoveID: moveID})
		switch {
		case ctx.Err() != nil:
			return sayf(ctx.Err(), "the hosts continue the move without this command: --cancel cancels it")
		case err != nil:
			return sayf(err, "the hosts continue the move without this command, which lost its connection: %v", err)
		}
		f.show(response.Move, label)
		switch response.Move.State {
		case api.MoveDone:
			return printDone(f.con.stdout, f.asJSON, response.Move, "%s is now on %s", printable(response.Move.SessionID), printable(label))
		case api.MoveCanceled, api.MoveCanceling:
			return sayf(errNotMoved, "the session was not moved: %s", printable(response.Move.Error))
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

var errNotMoved = errors.New("the session was not moved")

// show prints what has changed.
func (f *handOverFlags) show(move api.Move, label string) {
	if f.asJSON {
		return
	}
	if move.Error != "" && move.Error != f.lastTrouble && move.State != api.MoveCanceled && move.State != api.MoveCanceling {
		fmt.Fprintf(f.con.stderr, "waiting: %s\n", printable(move.Error))
	}
	f.lastTrouble = move.Error
	if f.lastState == "" {
		for _, name := range move.Skipped {
			fmt.Fprintf(f.con.stderr, "not moved: %s\n", printable(name))
		}
		if move.MoreSkipped > 0 {
			fmt.Fprintf(f.con.stderr, "and %d more are not moved\n", move.MoreSkipped)
		}
	}
	f.lastState = move.State
	if percent := 100 * move.Sent / max(1, move.Total); percent != f.lastPercent && terminal.IsTerminal(f.con.stderr) {
		f.lastPercent = percent
		fmt.Fprintf(f.con.stderr, "moving to %s: %d%%\n", printable(label), percent)
	}
}
