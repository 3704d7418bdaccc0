import { type ReactNode, useMemo } from "react";
import type { SessionState } from "../../../api/contract";
import { LiveContext, ProcessContext, TimelineContext } from "../context/live-context";

/** Gives the rows within what is known of the running turn. */
export function LiveFacts({ state, children }: { state: SessionState; children: ReactNode }) {
  const { tools, approvals, questions, crew, processes, turn } = state.live;
  const running = turn !== null;
  const facts = useMemo(
    () => ({ tools, approvals, questions, crew, running }),
    [tools, approvals, questions, crew, running],
  );
  return (
    <LiveContext value={facts}>
      <ProcessContext value={processes}>
        <TimelineContext value={state.timelines}>{children}</TimelineContext>
      </ProcessContext>
    </LiveContext>
  );
}
