import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import type { SessionState, SessionView } from "../../api/contract";
import { Button } from "../../components/Button";
import { ArrowDownIcon } from "../../components/icons";
import { useToast } from "../../components/Toast";
import { Later } from "./Later";
import { allLeaves } from "./leaves";
import { LiveContext, ProcessContext } from "./live-context";
import { RowView } from "./RowView";
import { Tail } from "./Tail";
import { useJump } from "./use-jump";
import { useRows } from "./use-rows";
import { useStickToBottom } from "./use-stick-to-bottom";
import { useWindow } from "./use-window";

/** Of the row that a search led to. */
const soughtStyle = "-mx-3 my-1 rounded-lg bg-accent-soft/50 px-3 py-2 ring-1 ring-accent/40";

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
  const { place } = state;
  const { entries, earlier } = place ?? state;
  const rows = useRows(entries, place?.tip);
  const load = useCallback(() => view.loadEarlier(), [view]);
  const beyond = useMemo(() => ({ state: earlier, load }), [earlier, load]);
  const { first, reveal } = useWindow(rows, box, top, beyond);
  const { atEnd, toEnd, leaveEnd } = useStickToBottom(box, content);
  const toast = useToast();
  const onMissing = useCallback((why: keyof typeof notThere) => toast(notThere[why]), [toast]);
  const seek = useCallback((sought: string) => view.seek(sought), [view]);
  const sought = useJump({ entryId, entries, rows, first, reveal, seek, leaveEnd, box, onMissing });
  const toLatest = useCallback(() => {
    view.leavePlace();
    toEnd();
  }, [view, toEnd]);
  const { tools, questions, crew } = live;
  const leaves = useMemo(() => allLeaves(live), [live]);
  const waits = leaves.length + questions.length > 0;
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
  const last = rows.at(-1);
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
            className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
          >
            <div ref={content} className="safe-x mx-auto max-w-3xl pt-2 pb-6">
              {first > 0 || earlier !== "none" ? (
                <div ref={top} data-testid="earlier" className="caption py-3 text-center text-faint">
                  {first > 0 && earlier === "none" ? `${first} earlier entries` : "Earlier entries"}
                </div>
              ) : null}
              {rows.slice(first).map((row, i) => (
                <div key={row.key} data-row={row.key} className={row.key === sought ? soughtStyle : undefined}>
                  <RowView row={row} previous={rows[first + i - 1]} me={me} />
                </div>
              ))}
              {nothing ? empty : null}
              {place ? (
                <Later box={box} busy={place.later === "loading"} onNear={() => view.loadLater()} />
              ) : (
                <Tail
                  state={state}
                  view={view}
                  leaves={leaves}
                  model={model}
                  last={last}
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
        {waits && (place || !atEnd) ? (
          // A line of its own: over the transcript it would cover what it leads to.
          <div className="flex shrink-0 justify-center py-2">
            <Button data-testid="to-card" tone="primary" onClick={toLatest}>
              <ArrowDownIcon /> The agent asks you
            </Button>
          </div>
        ) : null}
      </ProcessContext>
    </LiveContext>
  );
}
