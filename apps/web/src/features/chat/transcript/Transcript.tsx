import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import { Button } from "../../../components/Button";
import { ArrowDownIcon } from "../../../components/icons";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { useLate } from "../../shared/use-late";
import { lateCards } from "../approvals/late-cards";
import { LiveContext, ProcessContext, TimelineContext } from "../context/live-context";
import { pendingApprovals } from "../context/pending-approvals";
import { lateReader, ReaderContext } from "../text/late-reader";
import { HeldPlace } from "./HeldPlace";
import { Later } from "./Later";
import type { Writer } from "./RowPlace";
import { Rows } from "./Rows";
import { Tail } from "./Tail";
import { ToCards } from "./ToCards";
import { useAnnouncement } from "./use-announcement";
import { useJump } from "./use-jump";
import { useKeptPlace } from "./use-kept-place";
import { useRows } from "./use-rows";
import { useStickToBottom } from "./use-stick-to-bottom";
import { useWindow } from "./use-window";

const notThere = {
  get elsewhere() {
    return t("chat.transcript.thisMessageIsOnAnother");
  },
  get missing() {
    return t("chat.transcript.thisMessageIsNoLonger");
  },
  get failed() {
    return t("chat.transcript.thisMessageCouldNotBe");
  },
};

/**
 * The target, once the host has answered: rows of a stored copy may still change their height. A reader who has
 * scrolled in the copy is not moved.
 */
function useSettled<T>(target: T, { status, savedAt }: SessionState, atEnd: boolean): T | undefined {
  const waits = savedAt !== null && status === "reconnecting";
  const left = useRef<T | undefined>(undefined);
  useEffect(() => {
    if (waits && !atEnd) {
      left.current = target;
    }
  }, [waits, atEnd, target]);
  return waits || left.current === target ? undefined : target;
}

/** The streaming answer, if it is shown; null if there is none. */
function useWriter(view: SessionView, shown: boolean, model: TranscriptProps["model"]): Writer | null {
  const { id, demo = false } = model ?? {};
  return useMemo(() => (shown ? { view, model: id, demo } : null), [view, shown, id, demo]);
}

export interface TranscriptProps {
  state: SessionState;
  view: SessionView;
  /** The id of this browser. */
  me: string | undefined;
  /** The entry to scroll to; undefined stays at the end. */
  entryId?: string | undefined;
  model: { id: string; demo: boolean } | null;
  /** Whether this browser may answer approvals. */
  canAnswer: boolean;
  /** Whether this browser may answer questions. */
  canReply: boolean;
  canKeepRules: boolean;
  /** Whether nothing can be sent here, so that sending is not offered. */
  readOnly?: boolean;
  empty: ReactNode;
}

export function Transcript({
  state,
  view,
  me,
  entryId,
  model,
  canAnswer,
  canReply,
  canKeepRules,
  readOnly = false,
  empty,
}: TranscriptProps) {
  const { live, outgoing } = state;
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const { place } = state;
  const { entries, earlier } = place ?? state;
  const rows = useRows(entries, place?.tip);
  const { part: reader, missing } = useLate(lateReader);
  const cards = useLate(lateCards);
  const load = useCallback(() => view.loadEarlier(), [view]);
  const beyond = useMemo(() => ({ state: earlier, load }), [earlier, load]);
  const { first, last, reveal, toEnd: showEnd } = useWindow(rows, box, top, bottom, beyond, reader !== null || missing);
  const whole = last === rows.length;
  const { atEnd, toEnd, leaveEnd } = useStickToBottom(box, content, whole, rows);
  const { target, back } = useKeptPlace(view.sessionId, entryId, box, rows, atEnd && !place);
  const toast = useToast();
  const seek = useCallback((sought: string) => view.seek(sought), [view]);
  const toLatest = useCallback(() => {
    view.leavePlace();
    showEnd();
    toEnd();
  }, [view, showEnd, toEnd]);
  // A reader who returns to a deleted entry is at the end, as without a target.
  const onMissing = useCallback(
    (why: keyof typeof notThere) => (back ? toLatest() : toast(notThere[why])),
    [back, toLatest, toast],
  );
  const shownKey = useJump({
    target: useSettled(target, state, atEnd),
    entries,
    rows,
    first,
    last,
    reveal,
    seek,
    leaveEnd,
    box,
    onMissing,
  });
  const sought = back ? undefined : shownKey;
  const { tools, questions, crew } = live;
  const pending = useMemo(() => pendingApprovals(live), [live]);
  const waiting = [...pending.map(({ approval }) => approval.id), ...questions.map(({ id }) => id)];
  const waits = waiting.length > 0;
  const announcement = useAnnouncement(state, pending);
  const lastSent = outgoing.findLast((prompt) => prompt.mine)?.clientKey;
  // After sending, scroll to the end, wherever the reader was. A message that already waits moves nobody who comes back.
  const known = useRef(lastSent);
  useEffect(() => {
    if (lastSent && lastSent !== known.current) {
      toLatest();
    }
    known.current = lastSent;
  }, [lastSent, toLatest]);
  const running = live.turn !== null;
  const liveTools = useMemo(
    () => ({ tools, approvals: live.approvals, questions, crew, running }),
    [tools, live.approvals, questions, crew, running],
  );
  const writer = useWriter(view, running && whole && !place && live.partial.length > 0, model);
  const nothing = rows.every((row) => row.kind === "note") && earlier === "none" && outgoing.length === 0 && !running;
  return (
    <LiveContext value={liveTools}>
      <ProcessContext value={live.processes}>
        <TimelineContext value={state.timelines}>
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
              <div ref={content} data-guard-frame className="safe-x mx-auto max-w-3xl pt-2 pb-6">
                {first > 0 || earlier !== "none" ? (
                  <div ref={top} data-testid="earlier" className="caption py-3 text-center text-faint">
                    {first > 0 && earlier === "none"
                      ? t("chat.transcript.earlierEntries", { first })
                      : state.savedAt === null
                        ? t("chat.transcript.earlierEntriesTitle")
                        : t("chat.transcript.earlierNotSaved")}
                  </div>
                ) : null}
                <HeldPlace box={box} over={reader} atEnd={atEnd}>
                  <ReaderContext value={reader}>
                    <Rows {...{ rows, first, last, sought, me, writer }} />
                  </ReaderContext>
                </HeldPlace>
                {nothing ? empty : null}
                {!whole ? (
                  <div ref={bottom} data-testid="later" className="caption py-3 text-center text-faint">
                    {t("chat.transcript.laterEntries")}
                  </div>
                ) : place ? (
                  <Later box={box} place={place} onNear={() => view.loadLater()} />
                ) : (
                  <Tail
                    state={state}
                    view={view}
                    pending={pending}
                    me={me}
                    rows={rows}
                    canAnswer={canAnswer}
                    canReply={canReply}
                    canKeepRules={canKeepRules}
                    cards={cards.part ?? (cards.missing ? "missing" : null)}
                    readOnly={readOnly}
                  />
                )}
              </div>
            </section>
            {(atEnd && !place) || waits ? null : (
              <Button
                data-testid="to-latest"
                onClick={toLatest}
                className="rise absolute bottom-3 left-1/2 -translate-x-1/2 shadow-raised"
              >
                <ArrowDownIcon /> {t("chat.transcript.jumpToLatest")}
              </Button>
            )}
          </div>
          <ToCards
            box={box}
            ids={waiting}
            away={place !== null || !atEnd}
            here={whole && place === null && cards.part !== null}
            onLatest={toLatest}
          />
        </TimelineContext>
      </ProcessContext>
    </LiveContext>
  );
}
