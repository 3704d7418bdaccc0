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
  /** When the transcript was true, where it is the copy of this browser. */
  savedAt: number | null;
  /** What is wrong with the session's file. */
  damaged: string | undefined;
  /** What the host does to the session between turns. */
  work: Live["work"];
  /** Stands at its right end, always. */
  children?: ReactNode;
}

/** One line above the composer that says why the transcript may be behind, when it may, and what holds in the session. */
export function SessionStrip({ status, label, savedAt, damaged, work, children }: SessionStripProps) {
  const late = useLate(status === "reconnecting" && savedAt !== null);
  const said = (late ? sayStatus(status, label, savedAt, damaged) : null) ?? sayWork(work);
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

/** How long a copy is shown without a word while the machine is asked what followed, in milliseconds. */
const quick = 700;

/** False for a moment after it has begun to `wait`: as a rule the machine has answered by then. */
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

function sayWork(work: Live["work"]): { tone: Tone; text: string } | null {
  switch (work?.kind) {
    case undefined:
      return null;
    case "compaction":
      return { tone: "accent", text: t("chat.sessionStrip.summarizingYourMessagesWillBe") };
    default:
      return { tone: "accent", text: t("chat.sessionStrip.summarizingTheAbandonedBranchYour") };
  }
}

function sayStatus(
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
