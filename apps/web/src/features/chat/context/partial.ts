// The answer that is being written changes with every frame; what is around it does not.
import { startTransition, useEffect, useState } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import type { PartialBlock } from "../../../api/types";

/** Whether nothing but the text of an answer that was begun differs. */
export function onlyGrew(before: SessionState, after: SessionState): boolean {
  return (
    sameBut(before, after, "live") &&
    sameBut(before.live, after.live, "partial") &&
    after.live.partial.length > 0 &&
    before.live.partial.length === after.live.partial.length &&
    after.live.partial.every((block, i) => sameBut(before.live.partial[i] as PartialBlock, block, "text"))
  );
}

/** Whether an answer has ended and nothing that waits for people has come with its end. */
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
 * The answer that is being written; null reads none. It changes in the same rendering as the state of the session that
 * has it in its log.
 */
export function usePartial(view: Pick<SessionView, "state"> | null): readonly PartialBlock[] {
  const [partial, setPartial] = useState(() => view?.state.get().live.partial ?? none);
  useEffect(() => {
    if (!view) {
      return;
    }
    // A snapshot that an effect takes instead of useSyncExternalStore: that one would draw before the log has grown.
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
