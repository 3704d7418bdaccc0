import { type ReactNode, useMemo } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import { Button } from "../../../components/Button";
import { ArrowDownIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useLate } from "../../shared/use-late";
import { lateCards } from "../approvals/late-cards";
import { pendingApprovals } from "../context/pending-approvals";
import { ReaderContext } from "../text/late-reader";
import { Earlier } from "./Earlier";
import { HeldPlace } from "./HeldPlace";
import { Later } from "./Later";
import { LiveFacts } from "./LiveFacts";
import type { Writer } from "./RowPlace";
import { Rows } from "./Rows";
import { Tail, type TailProps } from "./Tail";
import { ToCards } from "./ToCards";
import { useAnnouncement } from "./use-announcement";
import { useReading } from "./use-reading";

export interface TranscriptProps extends Pick<TailProps, "me" | "canAnswer" | "canReply" | "canKeepRules"> {
  state: SessionState;
  view: SessionView;
  /** The entry to scroll to; undefined stays at the end. */
  entryId?: string | undefined;
  model: { id: string; demo: boolean } | null;
  /** Whether nothing can be sent here, so that sending is not offered. */
  readOnly?: boolean;
  empty: ReactNode;
}

export function Transcript({ state, view, entryId, model, readOnly = false, empty, ...reader }: TranscriptProps) {
  const { live, outgoing, place } = state;
  const reading = useReading(state, view, entryId);
  const { box, rows, first, last, whole, earlier, sought, toLatest } = reading;
  const cards = useLate(lateCards);
  const pending = useMemo(() => pendingApprovals(live), [live]);
  const announcement = useAnnouncement(state, pending);
  const running = live.turn !== null;
  const writer = useWriter(view, running && whole && !place && live.partial.length > 0, model);
  const waiting = [...pending.map(({ approval }) => approval.id), ...live.questions.map(({ id }) => id)];
  const away = place !== null || !reading.atEnd;
  const nothing = rows.every((row) => row.kind === "note") && earlier === "none" && outgoing.length === 0 && !running;
  return (
    <LiveFacts state={state}>
      <p role="status" data-testid="announcement" className="sr-only">
        {announcement}
      </p>
      <div className="relative min-h-0 flex-1">
        <section
          ref={box}
          aria-label={t("chat.transcript.transcript")}
          tabIndex={-1}
          data-transcript
          className="@container relative h-full overflow-y-auto overscroll-contain outline-none [overflow-anchor:none]"
        >
          <div ref={reading.content} data-guard-frame className="safe-x mx-auto max-w-3xl pt-2 pb-6">
            <Earlier ref={reading.top} hidden={first} earlier={earlier} saved={state.savedAt !== null} />
            <HeldPlace box={box} over={reading.reader} atEnd={reading.atEnd}>
              <ReaderContext value={reading.reader}>
                <Rows {...{ rows, first, last, sought, me: reader.me, writer }} />
              </ReaderContext>
            </HeldPlace>
            {nothing ? empty : null}
            {!whole ? (
              <div ref={reading.bottom} data-testid="later" className="caption py-3 text-center text-faint">
                {t("chat.transcript.laterEntries")}
              </div>
            ) : place ? (
              <Later box={box} place={place} onNear={() => view.loadLater()} />
            ) : (
              <Tail
                {...{ state, view, pending, rows, readOnly, ...reader }}
                cards={cards.part ?? (cards.missing ? "missing" : null)}
              />
            )}
          </div>
        </section>
        {away && waiting.length === 0 ? <ToLatest onClick={toLatest} /> : null}
      </div>
      <ToCards
        box={box}
        ids={waiting}
        away={away}
        here={whole && place === null && cards.part !== null}
        onLatest={toLatest}
      />
    </LiveFacts>
  );
}

/** The streaming answer, if it is shown; null if there is none. */
function useWriter(view: SessionView, shown: boolean, model: TranscriptProps["model"]): Writer | null {
  const { id, demo = false } = model ?? {};
  return useMemo(() => (shown ? { view, model: id, demo } : null), [view, shown, id, demo]);
}

function ToLatest({ onClick }: { onClick: () => void }) {
  return (
    <Button
      data-testid="to-latest"
      onClick={onClick}
      className="rise absolute bottom-3 left-1/2 -translate-x-1/2 shadow-raised"
    >
      <ArrowDownIcon /> {t("chat.transcript.jumpToLatest")}
    </Button>
  );
}
