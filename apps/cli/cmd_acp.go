package cli

import (
	"fmt"
	"io"
	"log/slog"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorel/scorel/apps/cli/internal/chat/feed"
	"github.com/scorel/scorel/apps/cli/internal/editors"
	"github.com/scorel/scorel/apps/cli/internal/follow"
	"github.com/scorel/scorel/apps/cli/internal/terminal"
	"github.com/scorel/scorel/packages/client/relayconn"
	"github.com/scorel/scorel/packages/protocol/api"
	"github.com/scorel/scorel/packages/protocol/session"
)

func newACP(a *app) *cobra.Command {
	var project string
	cmd := &cobra.Command{
		Use:   "acp",
		Short: "Serve an editor with the Agent Client Protocol",
		Long: `Act as the agent of an editor: Zed, JetBrains IDEs, Neovim and others start this command and speak
the Agent Client Protocol with it on standard input and output. Messages for people are on
standard error.

The sessions are ordinary sessions of a host: they can be watched, answered and continued from
any other device. If no host runs on this machine, one is started in the background. With
--device, the agent works on a paired device; a lost connection is restored and the editor gets
what it missed.

A new session belongs to the project of the editor's folder, or to --project. On another device,
that is the project with the same path or the same name.`,
		Example: "  scorel acp\n  scorel acp --device home --project /home/me/site",
		Args:    argCount(0, 0, "no arguments"),
	}
	to := a.targetFlag(cmd)
	cmd.Flags().StringVar(&project, "project", "", "folder or id of the project of new sessions (default: the editor's folder)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx := cmd.Context()
		if to.local() {
			if _, err := ensureHost(ctx, a.env); err != nil {
				return err
			}
			if folder, err := filepath.Abs(project); err == nil && project != "" {
				project = folder
			}
		}
		err := editors.Run(ctx, editors.Config{
			Input: terminal.Interruptible(ctx, a.stdin), Output: keptOpen{a.stdout}, Project: project, Local: to.local(), Version: version,
			Feed:   feed.Config{Dial: to.keep, Follow: to.followMove, Lost: mayComeBack, After: relayconn.RetryAfter, Wait: to.wait},
			Logger: slog.New(slog.NewTextHandler(a.stderr, nil)),
			Sign: func(sessionID string, approval api.Approval, decision api.Decision) (*session.AnswerSignature, error) {
				return to.signAnswer(sessionID, approval, follow.Verdict{Decision: decision})
			},
		})
		if err != nil && ctx.Err() == nil { // an editor ends its agents by a signal
			return fmt.Errorf("serving the editor: %w", err)
		}
		return nil
	}
	return cmd
}

// keptOpen is standard output, which ends with the process.
type keptOpen struct{ io.Writer }

func (keptOpen) Close() error { return nil }
