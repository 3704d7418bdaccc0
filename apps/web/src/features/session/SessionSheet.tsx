import { Link } from "wouter";
import type { Host } from "../../api/contract";
import type { Requests, SessionSummary } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { ArchiveIcon, CheckIcon, FilesIcon, PinIcon, TerminalIcon, TrashIcon } from "../../components/icons";
import { Sheet } from "../../components/Sheet";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/session";
import BudgetList from "../budgets/BudgetList";
import { ShareAction } from "../guests/ShareAction";
import { MoveAction } from "../move/MoveAction";
import { SessionLevel } from "../push/SessionLevel";
import { address } from "../route/address";
import { useOpen } from "../route/entry";
import { navigate } from "../route/history";
import { StartedBy } from "../schedules/StartedBy";
import { useHostData } from "../shared/host-data";
import { useReadable } from "../shared/scorel-context";
import { isUnread, seen } from "../shared/seen";
import { useAct } from "../shared/use-act";
import { RenameForm } from "./RenameForm";
import { SessionContext } from "./SessionContext";
import { SessionMeta } from "./SessionMeta";
import { SessionSpent } from "./SessionSpent";
import { hasWorktree, leftText, SessionWorktree } from "./SessionWorktree";
import { useUpdateSession } from "./use-update-session";

export interface SessionSheetProps {
  host: Host;
  session: SessionSummary;
  /** Whether this browser may change the session. */
  mayChange: boolean;
  /** Opens the session's changes; absent if they have their own button. */
  onChanges?: (() => void) | undefined;
  /** Asks whether to delete it; null if this browser may not. */
  onDelete: (() => void) | null;
  /** Moves it to another machine; null where this browser may not. */
  onMove: (() => void) | null;
  /** Shares it with a link; null where this browser may not. */
  onShare: (() => void) | null;
  onClose: () => void;
}

/** The details and the actions of a session. */
export default function SessionSheet({
  host,
  session,
  mayChange,
  onChanges,
  onDelete,
  onMove,
  onShare,
  onClose,
}: SessionSheetProps) {
  const { info } = useHostData(host);
  return (
    <Sheet title={t("session.sessionSheet.sessionDetails")} onClose={onClose}>
      {mayChange ? (
        <>
          <PinAndArchive host={host} session={session} onClose={onClose} />
          <RenameForm host={host} session={session} onDone={onClose} />
        </>
      ) : (
        <p className="text-muted text-sm">{t("session.sessionSheet.thisBrowserHasViewOnly")}</p>
      )}
      {/* On a phone, one below the other and equally wide. */}
      <div className="mt-3 flex flex-wrap gap-2 max-sm:flex-col">
        {session.running ? null : <MarkRead deviceId={host.deviceId} session={session} onDone={onClose} />}
        {onChanges ? (
          <Button
            data-testid="session-changes"
            className="max-sm:justify-start"
            onClick={() => {
              onClose();
              onChanges();
            }}
          >
            <FilesIcon /> {t("session.sessionSheet.changes")}
          </Button>
        ) : null}
        <Link
          to={address.terminals(host.deviceId, {
            project: session.projectId,
            ...(hasWorktree(session) ? { session: session.id } : {}),
          })}
          data-testid="session-terminal"
          className="touchable inline-flex items-center gap-2 rounded-md border border-line bg-surface px-3.5 py-1.5 font-medium text-sm hover:border-line-strong"
        >
          <TerminalIcon /> {t("session.sessionSheet.terminal")}
        </Link>
        <ShareAction onShare={onShare} />
        {session.parentSessionId ? null : <MoveAction onMove={onMove} />}
      </div>
      {session.parentSessionId ? null : <SessionLevel host={host} sessionId={session.id} />}
      <StartedBy host={host} session={session} />
      <SessionWorktree session={session} />
      <SessionContext host={host} sessionId={session.id} />
      <SessionSpent session={session} />
      <div className="mt-5 border-line border-t pt-4 empty:hidden">
        <BudgetList host={host} info={info} sessionId={session.id} />
      </div>
      <SessionMeta host={host} session={session} mayChange={mayChange} />
      <div className="mt-5 border-line border-t pt-4">
        <Button data-testid="delete-session" tone="danger" disabled={onDelete === null} onClick={onDelete ?? undefined}>
          <TrashIcon /> {t("session.sessionSheet.deleteSession")}
        </Button>
        {onDelete ? null : (
          <p className="mt-1.5 text-muted text-sm">{t("session.sessionSheet.thisBrowserCannotDeleteSessions")}</p>
        )}
      </div>
    </Sheet>
  );
}

/** Marks a session as read or unread. An open one is read, so marking it unread leaves its page. */
function MarkRead({ deviceId, session, onDone }: { deviceId: string; session: SessionSummary; onDone: () => void }) {
  const unread = isUnread(useReadable(seen.state), deviceId, session);
  const { sessionId } = useOpen();
  const toggle = () => {
    onDone();
    if (unread) {
      return seen.markRead(deviceId, [session]);
    }
    seen.markUnread(deviceId, session);
    if (sessionId === session.id) {
      navigate(address.inbox());
    }
  };
  return (
    <Button data-testid="mark-read" className="max-sm:justify-start" onClick={toggle}>
      <CheckIcon /> {unread ? t("session.sessionSheet.markRead") : t("session.sessionSheet.markUnread")}
    </Button>
  );
}

function PinAndArchive({ host, session, onClose }: Pick<SessionSheetProps, "host" | "session" | "onClose">) {
  const update = useUpdateSession(host, session.id);
  const toast = useToast();
  const { busy, error, act } = useAct();
  const change = (name: string, fields: Omit<Requests["update_session"]["request"], "sessionId">, done: string) =>
    act(name, async () => {
      const { worktree } = await update(fields);
      const left = fields.archived && worktree ? leftText(worktree) : null;
      toast(left ? t("session.sessionWorktree.archived", { left }) : done);
      onClose();
    });
  const { pinned = false, archived = false } = session;
  return (
    <>
      <div className="flex flex-wrap gap-2">
        <Button
          data-testid="pin-session"
          busy={busy === "pin"}
          disabled={busy !== null}
          onClick={() =>
            change(
              "pin",
              { pinned: !pinned },
              pinned ? t("session.sessionSheet.sessionUnpinned") : t("session.sessionSheet.sessionPinned"),
            )
          }
        >
          {busy === "pin" ? null : <PinIcon />}{" "}
          {pinned ? t("session.sessionSheet.unpin") : t("session.sessionSheet.pin")}
        </Button>
        <Button
          data-testid="archive-session"
          busy={busy === "archive"}
          disabled={busy !== null}
          onClick={() =>
            change(
              "archive",
              { archived: !archived },
              archived ? t("session.sessionSheet.sessionMovedOutOfThe") : t("session.sessionSheet.sessionArchived"),
            )
          }
        >
          {busy === "archive" ? null : <ArchiveIcon />}{" "}
          {archived ? t("session.sessionSheet.unarchive") : t("session.sessionSheet.archive")}
        </Button>
      </div>
      <ErrorText className="mt-2">{error}</ErrorText>
    </>
  );
}
