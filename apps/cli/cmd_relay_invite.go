package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/relay/store"
	"github.com/scorel/scorel/apps/relay/store/storeurl"
)

// inviteLine is an invite for display. Code is set only for a new invite.
type inviteLine struct {
	ID        string            `json:"id"`
	Code      string            `json:"code,omitempty"`
	State     store.InviteState `json:"state"`
	Uses      int               `json:"uses"`
	Used      int               `json:"used"`
	CreatedAt int64             `json:"createdAt"`           // Unix milliseconds
	ExpiresAt int64             `json:"expiresAt,omitempty"` // Unix milliseconds
}

func asInviteLine(i store.Invite, code string) inviteLine {
	line := inviteLine{ID: i.ID, Code: code, State: i.State(time.Now()), Uses: i.Uses, Used: i.Used, CreatedAt: i.Created.UnixMilli()}
	if !i.Expires.IsZero() {
		line.ExpiresAt = i.Expires.UnixMilli()
	}
	return line
}

func newRelayInvite(a *app) *cobra.Command {
	return group("invite", "Manage invites for a relay that requires them",
		"  scorel relay invite create --uses 3 --expires 7d\n  scorel relay invite list",
		newInviteCreate(a), newInviteList(a), newInviteRevoke(a))
}

type inviteFlags struct {
	store   storeFlags
	uses    int
	expires string
	asJSON  bool
}

func newInviteCreate(a *app) *cobra.Command {
	var f inviteFlags
	cmd := &cobra.Command{
		Use:   "create",
		Short: "Create an invite",
		Long: `Create an invite for a relay that runs with --admission invite. It is shown once: the
store keeps only a hash. Each new host, browser or terminal takes one use of it. Those
that are admitted no longer need it.`,
		Example: `  scorel relay invite create
  scorel relay invite create --uses 3 --expires 7d`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return createInvite(cmd.Context(), a.console, a.env, f) },
	}
	f.store.add(cmd)
	cmd.Flags().IntVar(&f.uses, "uses", 1, "how many devices and clients can use it")
	cmd.Flags().StringVar(&f.expires, "expires", "7d", "how long it is valid, such as 12h or 7d; 0 means forever")
	addJSON(cmd, &f.asJSON)
	return cmd
}

// parseLifetime parses a duration, which may be in whole days.
func parseLifetime(text string) (time.Duration, error) {
	var days int
	if n, err := fmt.Sscanf(text, "%dd", &days); err == nil && n == 1 && text == strconv.Itoa(days)+"d" && days >= 0 && days <= 36_500 {
		return time.Duration(days) * 24 * time.Hour, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, usagef("--expires %q is not a duration: give it as in 12h or 7d", text)
	}
	return d, nil
}

// open opens the relay's store for one command, and creates it if necessary.
func (f *storeFlags) open(ctx context.Context, env *environment, do func(st storeurl.Archive) error) error {
	return f.use(ctx, env, storeurl.Open, do)
}

// openExisting is open for an existing store: a mistyped folder must not be created,
// nor reported as a store without invites.
func (f *storeFlags) openExisting(ctx context.Context, env *environment, do func(st storeurl.Archive) error) error {
	there := func(ctx context.Context, url string) (storeurl.Archive, error) {
		st, err := storeurl.Connect(ctx, url)
		if err != nil {
			return st, err
		}
		if err := st.Close(); err != nil {
			return st, err
		}
		return storeurl.Open(ctx, url) // includes the schema for invites
	}
	return f.use(ctx, env, there, do)
}

func (f *storeFlags) use(ctx context.Context, env *environment, open func(context.Context, string) (storeurl.Archive, error), do func(st storeurl.Archive) error) (err error) {
	url, err := f.location(env)
	if err != nil {
		return err
	}
	st, err := open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return do(st)
}

func createInvite(ctx context.Context, con console, env *environment, f inviteFlags) error {
	lifetime, err := parseLifetime(f.expires)
	if err != nil {
		return err
	}
	code, invite, err := store.NewInvite(f.uses, lifetime, time.Now())
	if err != nil {
		return usagef("%v", err)
	}
	return f.store.openExisting(ctx, env, func(st storeurl.Archive) error {
		if err := st.AddInvite(ctx, invite); err != nil {
			return err
		}
		if f.asJSON {
			return printJSON(con.stdout, asInviteLine(invite, code))
		}
		_, err := fmt.Fprintf(con.stdout, "%s\n", code)
		fmt.Fprintf(con.stderr, "invite %s for %d, shown only once; give it with `--invite`, in SCOREL_INVITE, or on the page that asks for it\n", invite.ID, invite.Uses)
		return err
	})
}

func newInviteList(a *app) *cobra.Command {
	var f inviteFlags
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List invites and their uses",
		Long:    "List invites, newest first. Their codes are not stored.",
		Example: "  scorel relay invite list --json",
		Args:    argCount(0, 0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return listInvites(cmd.Context(), a.stdout, a.env, f) },
	}
	f.store.add(cmd)
	addJSON(cmd, &f.asJSON)
	return cmd
}

func listInvites(ctx context.Context, stdout io.Writer, env *environment, f inviteFlags) error {
	return f.store.openExisting(ctx, env, func(st storeurl.Archive) error {
		invites, err := st.Invites(ctx)
		if err != nil {
			return err
		}
		lines := make([]inviteLine, 0, len(invites))
		for _, i := range invites {
			lines = append(lines, asInviteLine(i, ""))
		}
		return printList(stdout, f.asJSON, lines, listing[inviteLine]{
			none:   "there are no invites: `scorel relay invite create` creates one",
			header: []string{"ID", "STATE", "USED", "EXPIRES"},
			row: func(_ int, l inviteLine) []string {
				expires := "never"
				if l.ExpiresAt != 0 {
					expires = formatMillis(l.ExpiresAt)
				}
				return []string{l.ID, string(l.State), fmt.Sprintf("%d of %d", l.Used, l.Uses), expires}
			},
		})
	})
}

func newInviteRevoke(a *app) *cobra.Command {
	var f inviteFlags
	cmd := &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke an invite",
		Long:    "Revoke an invite. Devices and clients that used it stay admitted.",
		Example: "  scorel relay invite revoke inv_a2b3c4d5",
		Args:    argCount(1, 1, "the id of an invite"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.store.openExisting(cmd.Context(), a.env, func(st storeurl.Archive) error {
				err := st.RevokeInvite(cmd.Context(), args[0], time.Now())
				if errors.Is(err, store.ErrNotFound) {
					return sayf(err, "there is no valid invite %q: `scorel relay invite list` shows them", args[0])
				}
				return err
			})
		},
	}
	f.store.add(cmd)
	return cmd
}
