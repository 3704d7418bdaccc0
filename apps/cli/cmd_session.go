package cli

import (
	"github.com/spf13/cobra"

	"github.com/scorel/scorel/packages/protocol/api"
)

func newSession(a *app) *cobra.Command {
	return group("session", "Manage sessions and their history",
		"  scorel session list\n  scorel session show ID --device dev_...",
		newSessionList(a), newSessionSearch(a), newSessionShow(a), newSessionChanges(a), newSessionRevert(a), newSessionProgress(a), newSessionImages(a), newSessionTree(a), newSessionInspect(a), newSessionVerify(a), newSessionExport(a), newSessionImport(a),
		newSessionRename(a), newSessionArchive(a), newSessionUnarchive(a), newSessionPin(a), newSessionUnpin(a), newSessionMeta(a), newSessionLabel(a), newSessionRewind(a), newSessionNavigate(a), newSessionFork(a), newSessionQueue(a), newSessionCancel(a), newSessionAnswer(a), newSessionModel(a), newSessionMode(a),
		newSessionCompact(a), newSessionCopy(a), newSessionMove(a), newSessionDelete(a), newSessionShare(a), newSessionUnshare(a))
}

func noSession(project string) string {
	if project == "" {
		return "there are no sessions: `scorel send` starts one"
	}
	return "there are no sessions in this project: `scorel send --project` starts one"
}

func sessionState(s api.SessionSummary) string {
	switch {
	case s.Damaged != "":
		return "damaged"
	case s.WaitingApproval, s.WaitingAnswer:
		return "asks"
	case s.Running:
		return "running"
	case s.Archived:
		return "archived"
	case s.Pinned:
		return "pinned"
	}
	return "idle"
}
