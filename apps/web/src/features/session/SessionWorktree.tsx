import type { SessionSummary, Worktree } from "../../api/types";
import { t } from "../../i18n/session";

/** The git worktree of a session. */
export function SessionWorktree({ session }: { session: SessionSummary }) {
  const { worktree } = session;
  if (!worktree) {
    return null;
  }
  const row = (name: string, value: string) => (
    <div className="flex gap-3 py-0.5">
      <dt className="w-20 shrink-0 text-muted">{name}</dt>
      <dd dir="auto" className="min-w-0 flex-1 break-words font-mono text-xs leading-5 [overflow-wrap:anywhere]">
        {value}
      </dd>
    </div>
  );
  return (
    <section
      aria-label={t("session.sessionWorktree.worktree")}
      data-testid="session-worktree"
      className="mt-5 border-line border-t pt-4 text-sm"
    >
      <h3 className="font-medium">{t("session.sessionWorktree.worktree")}</h3>
      <dl className="mt-1">
        {row(t("session.sessionWorktree.branch"), worktree.branch)}
        {row(t("session.sessionWorktree.folder"), worktree.folder)}
      </dl>
      <p className="mt-1 text-muted">{leftText(worktree) ?? t("session.sessionWorktree.whenArchived")}</p>
    </section>
  );
}

/** Reports whether a session works in an existing worktree. */
export function hasWorktree({ worktree }: SessionSummary): boolean {
  return worktree !== undefined && worktree !== null && !worktree.removed;
}

/** Returns what happened to a worktree when its session was archived; null if nothing did. */
export function leftText(worktree: Worktree): string | null {
  if (worktree.removed) {
    return t("session.sessionWorktree.removed");
  }
  return worktree.kept ? t("session.sessionWorktree.kept", { reason: keptBecause(worktree.kept) }) : null;
}

function keptBecause(kept: string): string {
  switch (kept) {
    case "uncommitted":
      return t("session.sessionWorktree.uncommitted");
    case "operation":
      return t("session.sessionWorktree.operation");
    case "commits":
      return t("session.sessionWorktree.commits");
    case "repository":
      return t("session.sessionWorktree.repository");
    case "shared":
      return t("session.sessionWorktree.shared");
    case "busy":
      return t("session.sessionWorktree.busy");
    default:
      return t("session.sessionWorktree.failed");
  }
}
