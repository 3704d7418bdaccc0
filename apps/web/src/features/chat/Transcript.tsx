import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import type { SessionState, SessionView } from "../../api/contract";
import { Button } from "../../components/Button";
import { ArrowDownIcon } from "../../components/icons";
import { useToast } from "../../components/Toast";
import { Later } from "./Later";
import { allLeaves } from "./leaves";
import { LiveContext, ProcessContext } from "./live-context";
import { Rows } from "./Rows";
import { Tail } from "./Tail";
import { ToCards } from "./ToCards";
import { useJump } from "./use-jump";
import { useRows } from "./use-rows";
import { useStickToBottom } from "./use-stick-to-bottom";
import { useWindow } from "./use-window";

const notThere = {
  elsewhere: "That place is on another branch of this session.",
  missing: "That place is not in this session any more.",
  failed: "That place could not be fetched now; try again when the machine is online.",
};

export interface TranscriptProps {
  state: SessionState;
  view: SessionView;
  /** The id of this browser. */
  me: string | undefined;
  /** The entry to bring into sight; undefined stays at the end. */
  entryId?: string | undefined;
  model: { id: string; demo: boolean } | null;
  /** Whether this browser may answer approvals. */
  canAnswer: boolean;
  /** Whether this browser may answer questions. */
  canReply: boolean;
  canKeepRules: boolean;
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
  const load = useCallback(() => view.loadEarlier(), [view]);
  const beyond = useMemo(() => ({ state: earlier, load }), [earlier, load]);
  const { first, last, reveal, toEnd: showEnd } = useWindow(rows, box, top, bottom, beyond);
  const whole = last === rows.length;
  const { atEnd, toEnd, leaveEnd } = useStickToBottom(box, content, whole, rows);
  const toast = useToast();
  const onMissing = useCallback((why: keyof typeof notThere) => toast(notThere[why]), [toast]);
  const seek = useCallback((sought: string) => view.seek(sought), [view]);
  const sought = useJump({ entryId, entries, rows, first, last, reveal, seek, leaveEnd, box, onMissing });
  const toLatest = useCallback(() => {
    view.leavePlace();
    showEnd();
    toEnd();
  }, [view, showEnd, toEnd]);
  const { tools, questions, crew } = live;
  const leaves = useMemo(() => allLeaves(live), [live]);
  const waiting = [...leaves.map(({ approval }) => approval.id), ...questions.map(({ id }) => id)];
  const waits = waiting.length > 0;
  const lastSent = outgoing.findLast((prompt) => prompt.mine)?.clientKey;
  // Whoever sends something wants to see it, wherever the reader was.
  useEffect(() => {
    if (lastSent) toLatest();
  }, [lastSent, toLatest]);
  const running = live.turn !== null;
  const liveTools = useMemo(
    () => ({ tools, approvals: live.approvals, questions, crew, running }),
    [tools, live.approvals, questions, crew, running],
  );
  const nothing = rows.every((row) => row.kind === "note") && earlier === "none" && outgoing.length === 0 && !running;
  return (
    <LiveContext value={liveTools}>
      <ProcessContext value={live.processes}>
        <p role="status" className="sr-only">
          {leaves.length > 0
            ? "The agent asks for your approval."
            : waits
              ? "The agent asks you."
              : running
                ? "The agent works."
                : ""}
        </p>
        <div className="relative min-h-0 flex-1">
          <section
            ref={box}
            aria-label="Transcript"
            className="relative h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
          >
            <div ref={content} className="safe-x mx-auto max-w-3xl pt-2 pb-6">
              {first > 0 || earlier !== "none" ? (
                <div ref={top} data-testid="earlier" className="caption py-3 text-center text-faint">
                  {first > 0 && earlier === "none" ? `${first} earlier entries` : "Earlier entries"}
                </div>
              ) : null}
              <Rows rows={rows} first={first} last={last} sought={sought} me={me} />
              {nothing ? empty : null}
              {!whole ? (
                <div ref={bottom} data-testid="later" className="caption py-3 text-center text-faint">
                  Later entries
                </div>
              ) : place ? (
                <Later box={box} busy={place.later === "loading"} onNear={() => view.loadLater()} />
              ) : (
                <Tail
                  state={state}
                  view={view}
                  leaves={leaves}
                  model={model}
                  last={rows.at(-1)}
                  canAnswer={canAnswer}
                  canReply={canReply}
                  canKeepRules={canKeepRules}
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
              <ArrowDownIcon /> Jump to latest
            </Button>
          )}
        </div>
        <ToCards
          box={box}
          ids={waiting}
          away={place !== null || !atEnd}
          here={whole && place === null}
          onLatest={toLatest}
        />
      </ProcessContext>
    </LiveContext>
  );
}
