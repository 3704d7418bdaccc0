package cli

import (
	"bufio"
	"context"
	"crypto/rand"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client"
	"github.com/scorel/scorel/packages/protocol/api"
)

func newChannel(a *app) *cobra.Command {
	return group("channel", "Connect chats of Telegram, Slack, Discord and QQ to projects",
		"  scorel channel add telegram\n  scorel channel pair ID --project ~/code/site\n  scorel channel list",
		newChannelList(a), newChannelAdd(a), newChannelTest(a), newChannelPair(a), newChannelAllow(a, "allow", true), newChannelAllow(a, "disallow", false), newChannelRemove(a), newChannelServe(a))
}

func newChannelList(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the channels with their chats",
		Long: `List the channels of a host with their chats, the allowed senders, and in brackets the people
who wrote lately and were ignored. With --json, each line is one channel.`,
		Example: "  scorel channel list\n  scorel channel list --json",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			response, err := client.Call(cmd.Context(), c, api.ListChannels, api.Empty{})
			if err != nil {
				return err
			}
			if asJSON {
				return printEach(a.stdout, response.Channels)
			}
			return printList(a.stdout, false, channelLines(response.Channels), listing[[]string]{
				none:   "there are no channels: `scorel channel add` adds one",
				header: []string{"CHANNEL", "KIND", "STATE", "CHAT", "PROJECT", "SENDERS"}, row: func(_ int, row []string) []string { return row },
			})
		})
	}
	return cmd
}

// channelLines has a line for each chat, and for each channel without one.
func channelLines(channels []api.Channel) (lines [][]string) {
	for _, ch := range channels {
		state := string(ch.State)
		if ch.Problem != "" {
			state += ": " + ch.Problem
		}
		if len(ch.Chats) == 0 {
			lines = append(lines, []string{ch.ID, ch.Kind, state, "-", "-", "-"})
		}
		for _, chat := range ch.Chats {
			project := chat.Project
			if project == "" {
				project = "not connected"
			}
			lines = append(lines, []string{ch.ID, ch.Kind, state, chatName(chat), project, senderNames(chat)})
		}
	}
	return lines
}

func chatName(chat api.ChannelChat) string {
	if chat.Title == "" {
		return chat.ID
	}
	return chat.ID + " (" + chat.Title + ")"
}

func senderNames(chat api.ChannelChat) string {
	var names []string
	for _, s := range chat.Senders {
		names = append(names, s.ID+" "+s.Name)
	}
	for _, s := range chat.Ignored {
		names = append(names, "["+s.ID+" "+s.Name+"]")
	}
	return strings.Join(names, ", ")
}

func newChannelAdd(a *app) *cobra.Command {
	var asJSON bool
	request := api.AddChannelRequest{Settings: map[string]string{}}
	var set []string
	cmd := &cobra.Command{
		Use:   "add PLATFORM",
		Short: "Add a bot on a chat platform",
		Long: `Add a bot on a chat platform, webhook for a server of your own, or mcp for a channel server of a
project: an MCP server with the capability claude/channel, as "scorel mcp list" shows it. The host
connects to it at once. Secrets such as the token are read without echo, or from standard input, one on each
line; other settings are given with --set. The host keeps secrets in the system's key store or
a file that only you can read, and never shows them again.

A chat is connected to a project with "scorel channel pair". The platform and all members of a
chat can read what is said there.`,
		Example: "  scorel channel add telegram\n  scorel channel add webhook --set url=https://bridge.example.com < secret\n  scorel channel add mcp --set server=dice --project ~/code/site",
		Args:    argCount(1, 1, "a platform, such as telegram"),
	}
	to := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&request.Name, "name", "", "name for people (default: the platform's)")
	cmd.Flags().StringArrayVar(&set, "set", nil, "a setting of the platform, as NAME=VALUE")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, pair := range set {
			name, value, ok := strings.Cut(pair, "=")
			if !ok {
				return usagef("--set %s is not NAME=VALUE", pair)
			}
			request.Settings[name] = value
		}
		request.Kind, request.ClientKey = args[0], rand.Text()
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			if err := askSecrets(cmd.Context(), a.console, c, &request, to); err != nil {
				return err
			}
			added, err := client.Call(cmd.Context(), c, api.AddChannel, request)
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, added.Channel, "added %s: connect a chat with `scorel channel pair %s`", added.Channel.ID, added.Channel.ID)
		})
	}
	return cmd
}

// askSecrets reads the secret settings of the platform that are not given, and finds the project of
// one that runs in a project.
func askSecrets(ctx context.Context, con console, c *client.Client, request *api.AddChannelRequest, at *projectFlag) error {
	listed, err := client.Call(ctx, c, api.ListChannels, api.Empty{})
	if err != nil {
		return err
	}
	var kinds []string
	lines := bufio.NewReader(io.LimitReader(terminal.Interruptible(ctx, con.stdin), 16*maxKey))
	for _, p := range listed.Platforms {
		kinds = append(kinds, p.Kind)
		if p.Kind != request.Kind {
			continue
		}
		for _, s := range p.Settings {
			if s.Name == "project" && request.Settings[s.Name] == "" {
				found, err := at.find(ctx, c)
				if err != nil {
					return err
				}
				request.Settings[s.Name] = found.ID
			}
			if !s.Secret || request.Settings[s.Name] != "" {
				continue
			}
			value, err := con.readSecretFrom(ctx, lines, s.Name, s.Usage+": ", maxKey)
			if err != nil {
				return err
			}
			if value == "" && !s.Optional {
				return usagef("no %s was given: type it, or send it to standard input", s.Name)
			}
			if value != "" {
				request.Settings[s.Name] = value
			}
		}
		return nil
	}
	return usagef("unknown platform %q: use one of %s", request.Kind, strings.Join(kinds, ", "))
}

func newChannelTest(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "test ID",
		Short:   "Ask the platform whether the token works",
		Example: "  scorel channel test chn_...",
		Args:    argCount(1, 1, "the id of one channel"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			tested, err := client.Call(cmd.Context(), c, api.TestChannel, api.ChannelRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, tested.Channel, "it works: the bot is %s", printable(tested.Channel.Bot))
		})
	}
	return cmd
}

func newChannelPair(a *app) *cobra.Command {
	var asJSON bool
	var grants []string
	var expires time.Duration
	cmd := &cobra.Command{
		Use:   "pair ID",
		Short: "Create a code that connects a chat to a project",
		Long: `Create a code. Write it in the chat, as a message to the bot: it connects the chat to the
project, and your messages are accepted there from then on. The code works once, for ten
minutes. Others in the chat are ignored until "scorel channel allow" allows them.

The chat may do what its grants say: view, prompt, approve and files (for a channel server:
view and prompt), unless --grant names others. With --expires its access ends after that time.`,
		Example: "  scorel channel pair chn_... --project ~/code/site\n  scorel channel pair chn_... --grant view,prompt --expires 8h",
		Args:    argCount(1, 1, "the id of one channel"),
	}
	project := a.projectFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringSliceVar(&grants, "grant", nil, "what the chat may do: view, prompt, approve, files, manage")
	cmd.Flags().DurationVar(&expires, "expires", 0, "when the access of the chat ends, such as 8h")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return project.onHost(cmd.Context(), func(c *client.Client) error {
			found, err := project.find(cmd.Context(), c)
			if err != nil {
				return err
			}
			request := api.PairChannelRequest{ID: args[0], ProjectID: found.ID}
			for _, g := range grants {
				request.Grants = append(request.Grants, api.Grant(g))
			}
			if expires != 0 {
				request.ExpiresAt = time.Now().Add(expires).UnixMilli()
			}
			code, err := client.Call(cmd.Context(), c, api.PairChannel, request)
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, code, "Write %s in the chat within ten minutes. Only your messages are accepted there.", code.Code)
		})
	}
	return cmd
}

func newChannelAllow(a *app, name string, allowed bool) *cobra.Command {
	var asJSON bool
	short, done := "Allow a sender: their messages reach the agent from then on", "allowed"
	if !allowed {
		short, done = "Stop allowing a sender of a chat", "ignored from now on"
	}
	cmd := &cobra.Command{
		Use:     name + " ID CHAT SENDER",
		Short:   short,
		Example: "  scorel channel " + name + " chn_... -1001234 5678",
		Args:    argCount(3, 3, "a channel, a chat and a sender, as `scorel channel list` shows them"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			request := api.AllowSenderRequest{ID: args[0], ChatID: args[1], SenderID: args[2], Allowed: allowed}
			changed, err := client.Call(cmd.Context(), c, api.AllowSender, request)
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, changed.Channel, "%s", done)
		})
	}
	cmd.Flags().SetInterspersed(false) // ids of chats may begin with a minus
	return cmd
}

func newChannelRemove(a *app) *cobra.Command {
	var asJSON bool
	var chat string
	cmd := &cobra.Command{
		Use:   "remove ID",
		Short: "Remove a channel, or one of its chats",
		Long: `Remove a channel with its token and chats, or with --chat one chat. The sessions are kept, and
so are the messages on the platform.`,
		Example: "  scorel channel remove chn_...\n  scorel channel remove chn_... --chat=-1001234",
		Args:    argCount(1, 1, "the id of one channel"),
	}
	to := a.targetFlag(cmd)
	addJSON(cmd, &asJSON)
	cmd.Flags().StringVar(&chat, "chat", "", "remove only this chat")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return to.onHost(cmd.Context(), func(c *client.Client) error {
			if chat != "" {
				left, err := client.Call(cmd.Context(), c, api.RemoveChat, api.RemoveChatRequest{ID: args[0], ChatID: chat})
				if err != nil {
					return err
				}
				return printDone(a.stdout, asJSON, left.Channel, "removed the chat")
			}
			removed, err := client.Call(cmd.Context(), c, api.RemoveChannel, api.ChannelRequest{ID: args[0]})
			if err != nil {
				return err
			}
			return printDone(a.stdout, asJSON, removed, "removed")
		})
	}
	return cmd
}
