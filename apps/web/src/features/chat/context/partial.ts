// The streaming answer changes with every frame, while everything around it stays the same.
import { startTransition, useEffect, useState } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import type { PartialBlock } from "../../../api/types";

/** Reports whether two states differ only in the text of an answer that had begun. */
export function onlyGrew(before: SessionState, after: SessionState): boolean {
  return (
    sameBut(before, after, "live") &&
    sameBut(before.live, after.live, "partial") &&
    after.live.partial.length > 0 &&
    before.live.partial.length === after.live.partial.length &&
    after.live.partial.every((block, i) => sameBut(before.live.partial[i] as PartialBlock, block, "text"))
  );
}

/** Reports whether an answer has ended without a new approval or question at its end. */
export function answerEnds({ live: before }: SessionState, { live: after }: SessionState): boolean {
  const asks = after.approvals !== before.approvals || after.questions !== before.questions;
  return before.partial.length > 0 && after.partial.length === 0 && !asks;
}

function sameBut<T extends object>(before: T, after: T, but: keyof T): boolean {
  const keys = Object.keys(after) as (keyof T)[];
  return keys.length === Object.keys(before).length && keys.every((key) => key === but || before[key] === after[key]);
}

const none: readonly PartialBlock[] = [];

/**
 * Returns the streaming answer; null disables it. It changes in the same rendering as the state that has the answer in
 * its log.
 */
export function usePartial(view: Pick<SessionView, "state"> | null): readonly PartialBlock[] {
  const [partial, setPartial] = useState(() => view?.state.get().live.partial ?? none);
  useEffect(() => {
    if (!view) {
      return;
    }
    // An effect reads this snapshot instead of useSyncExternalStore, which would render before the log has grown.
    let before = view.state.get();
    const take = () => {
      const state = view.state.get();
      const ends = answerEnds(before, state);
      before = state;
      ends ? startTransition(() => setPartial(state.live.partial)) : setPartial(state.live.partial);
    };
    take();
    return view.state.subscribe(take);
  }, [view]);
  return partial;
}
