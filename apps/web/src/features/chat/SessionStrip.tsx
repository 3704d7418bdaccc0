import { type ReactNode, useEffect, useState } from "react";
import type { SessionState } from "../../api/contract";
import type { Live } from "../../api/types";
import { Dot, type Tone } from "../../components/Badge";
import { cx } from "../../components/cx";
import { t } from "../../i18n/chat";
import { ConnectionLink } from "../shared/ConnectionLink";
import { clock } from "../shared/time";

export interface SessionStripProps {
  status: SessionState["status"];
  label: string;
  /** When the transcript was current, if it is a stored copy. */
  savedAt: number | null;
  /** What is wrong with the session's file. */
  damaged: string | undefined;
  /** The host's work on the session between turns. */
  work: Live["work"];
  /** Shown at the right end, always. */
  children?: ReactNode;
}

/** One line above the composer: why the transcript may be out of date, if it may, and the settings of the session. */
export function SessionStrip({ status, label, savedAt, damaged, work, children }: SessionStripProps) {
  const late = useLate(status === "reconnecting" && savedAt !== null);
  const said = (late ? statusNotice(status, label, savedAt, damaged) : null) ?? workNotice(work);
  return (
    <div className="safe-x mx-auto flex w-full max-w-3xl shrink-0 flex-wrap items-center justify-end gap-x-2">
      <div role="status" className={cx("min-w-0 flex-1", said && "max-sm:basis-full")}>
        {said ? (
          <p
            data-testid="session-strip"
            data-status={status}
            className="flex items-center gap-2 py-1.5 text-muted text-sm"
          >
            <Dot tone={said.tone} live={status === "reconnecting" || said.tone === "accent"} />
            <span className="min-w-0">{said.text}</span>
            {damaged || status !== "offline" ? null : (
              <ConnectionLink className="ml-auto font-medium underline underline-offset-2">
                {t("chat.sessionStrip.findOutWhy")}
              </ConnectionLink>
            )}
          </p>
        ) : null}
      </div>
      {children}
    </div>
  );
}

/** How long a copy is shown without a notice while the host is asked for what followed, in milliseconds. */
const quick = 700;

/** Returns false for a moment after `wait` began: the host usually answers within it. */
function useLate(wait: boolean): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    if (!wait) {
      return;
    }
    const timer = setTimeout(() => setOver(true), quick);
    return () => {
      clearTimeout(timer);
      setOver(false);
    };
  }, [wait]);
  return !wait || over;
}

function workNotice(work: Live["work"]): { tone: Tone; text: string } | null {
  switch (work?.kind) {
    case undefined:
      return null;
    case "compaction":
      return { tone: "accent", text: t("chat.sessionStrip.summarizingYourMessagesWillBe") };
    default:
      return { tone: "accent", text: t("chat.sessionStrip.summarizingTheAbandonedBranchYour") };
  }
}

function statusNotice(
  status: string,
  label: string,
  savedAt: number | null,
  damaged: string | undefined,
): { tone: Tone; text: string } | null {
  if (damaged) {
    return { tone: "danger", text: damaged };
  }
  const time = savedAt === null ? null : clock(savedAt);
  switch (status) {
    case "reconnecting":
      return {
        tone: "warn",
        text: time
          ? t("chat.sessionStrip.savedCopyReconnecting", { time, label })
          : t("chat.sessionStrip.reconnectingToYourMessagesAre", { label }),
      };
    case "offline":
      return {
        tone: "neutral",
        text: time
          ? t("chat.sessionStrip.savedCopyOffline", { time, label })
          : t("chat.sessionStrip.isOfflineYourMessagesAre", { label }),
      };
    default:
      return null;
  }
}
