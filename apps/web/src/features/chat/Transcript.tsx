import { type ReactNode, useCallback, useEffect, useMemo, useRef } from "react";
import type { SessionState, SessionView } from "../../api/contract";
import { Button } from "../../components/Button";
import { ArrowDownIcon } from "../../components/icons";
import { useToast } from "../../components/Toast";
import { ApprovalCard } from "./ApprovalCard";
import { AssistantRow, ErrorCard } from "./AssistantRow";
import { LivePart } from "./LivePart";
import { LiveContext, ProcessContext } from "./live-context";
import { OutgoingRows } from "./OutgoingRows";
import { ResultRow } from "./ResultRow";
import type { Row } from "./rows";
import { SummaryRow } from "./SummaryRow";
import { UserRow } from "./UserRow";
import { useJump } from "./use-jump";
import { useRows } from "./use-rows";
import { useStickToBottom } from "./use-stick-to-bottom";
import { useWindow } from "./use-window";

/** Of the row that a search led to. */
const soughtStyle = "-mx-3 my-1 rounded-lg bg-accent-soft/50 px-3 py-2 ring-1 ring-accent/40";

export interface TranscriptProps {
  state: SessionState;
  view: SessionView;
  /** The id of this browser. */
  me: string | undefined;
  /** The entry to bring into sight; undefined stays at the end. */
  entryId?: string | undefined;
  model: { id: string; demo: boolean } | null;
  canAnswer: boolean;
  canKeepRules: boolean;
  empty: ReactNode;
}

export function Transcript({ state, view, me, entryId, model, canAnswer, canKeepRules, empty }: TranscriptProps) {
  const { live, outgoing } = state;
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const rows = useRows(state.entries);
  const load = useCallback(() => view.loadEarlier(), [view]);
  const beyond = useMemo(() => ({ state: state.earlier, load }), [state.earlier, load]);
  const { first, reveal } = useWindow(rows, box, top, beyond);
  const { atEnd, toEnd, leaveEnd } = useStickToBottom(box, content);
  const toast = useToast();
  const onMissing = useCallback(() => toast("That place is on another branch of this session."), [toast]);
  const sought = useJump({
    entryId,
    entries: state.entries,
    rows,
    first,
    reveal,
    earlier: state.earlier,
    loadEarlier: load,
    leaveEnd,
    box,
    onMissing,
  });
  const { tools, approvals } = live;
  const lastSent = outgoing.findLast((prompt) => prompt.mine)?.clientKey;
  // Whoever sends something wants to see it, wherever the reader was.
  useEffect(() => {
    if (lastSent) toEnd();
  }, [lastSent, toEnd]);
  const running = live.turn !== null;
  const liveTools = useMemo(() => ({ tools, approvals, running }), [tools, approvals, running]);
  const last = rows.at(-1);
  const nothing = rows.length === 0 && state.earlier === "none" && outgoing.length === 0 && !running;
  return (
    <LiveContext value={liveTools}>
      <ProcessContext value={live.processes}>
        <p role="status" className="sr-only">
          {approvals.length > 0 ? "The agent asks for your approval." : running ? "The agent works." : ""}
        </p>
        <div className="relative min-h-0 flex-1">
          <section
            ref={box}
            aria-label="Transcript"
            className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
          >
            <div ref={content} className="safe-x mx-auto max-w-3xl pt-2 pb-6">
              {first > 0 || state.earlier !== "none" ? (
                <div ref={top} data-testid="earlier" className="caption py-3 text-center text-faint">
                  {first > 0 && state.earlier === "none" ? `${first} earlier entries` : "Earlier entries"}
                </div>
              ) : null}
              {nothing ? empty : null}
              {rows.slice(first).map((row, i) => (
                <div key={row.key} data-row={row.key} className={row.key === sought ? soughtStyle : undefined}>
                  <RowView row={row} previous={rows[first + i - 1]} me={me} />
                </div>
              ))}
              {running ? (
                <LivePart
                  live={live}
                  model={model?.id}
                  demo={model?.demo ?? false}
                  first={last?.kind !== "assistant"}
                />
              ) : null}
              {approvals.map((approval, i) => (
                <ApprovalCard
                  key={approval.id}
                  approval={approval}
                  place={i + 1}
                  count={approvals.length}
                  canAnswer={canAnswer}
                  canKeepRules={canKeepRules}
                  onAnswer={(asked, answer) => view.answer(asked, answer)}
                />
              ))}
              {state.lastError && !running && !tellsError(last) ? <ErrorCard text={state.lastError} /> : null}
              <OutgoingRows prompts={outgoing} queue={live.queue} running={running} view={view} />
            </div>
          </section>
          {atEnd ? null : (
            <Button
              onClick={toEnd}
              className="rise absolute bottom-3 left-1/2 -translate-x-1/2 shadow-raised"
              tone={approvals.length > 0 ? "primary" : "secondary"}
            >
              <ArrowDownIcon /> {approvals.length > 0 ? "The agent asks you" : "Jump to latest"}
            </Button>
          )}
        </div>
      </ProcessContext>
    </LiveContext>
  );
}

/** Whether the row says already that the turn did not end well. */
function tellsError(row: Row | undefined): boolean {
  if (row?.kind === "assistant") return row.message.stopReason === "error" || row.message.stopReason === "aborted";
  return row?.kind === "error" || row?.kind === "note";
}

function RowView({ row, previous, me }: { row: Row; previous: Row | undefined; me: string | undefined }) {
  switch (row.kind) {
    case "user":
      return <UserRow entry={row.entry} message={row.message} mine={row.entry.clientId === me} />;
    case "assistant":
      return (
        <AssistantRow
          entryId={row.entryId}
          message={row.message}
          tools={row.tools}
          first={previous?.kind !== "assistant"}
        />
      );
    case "summary":
      return <SummaryRow title={row.title} text={row.text} />;
    case "result":
      return <ResultRow result={row.result} />;
    case "note":
      return <p className="caption my-4 text-center text-faint">{row.text}</p>;
    case "error":
      return <ErrorCard text={row.text} />;
    case "unknown":
      return (
        <p data-testid="unknown-entry" className="caption my-3 text-faint">
          unknown entry: {row.type}
        </p>
      );
  }
}
