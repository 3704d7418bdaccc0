import { useCallback, useEffect, useMemo, useRef } from "react";
import type { OutgoingPrompt, SessionState, SessionView } from "../../../api/contract";
import { useLate } from "../../shared/use-late";
import { lateReader } from "../text/late-reader";
import { useRows } from "./use-rows";
import { useSought } from "./use-sought";
import { useStickToBottom } from "./use-stick-to-bottom";
import { useWindow } from "./use-window";

/**
 * The rows of a session and the reader's position in them: which rows are shown, whether the reader is at the end, and
 * the row that the address or an earlier visit leads to.
 */
export function useReading(state: SessionState, view: SessionView, entryId: string | undefined) {
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const top = useRef<HTMLDivElement>(null);
  const bottom = useRef<HTMLDivElement>(null);
  const { place } = state;
  const { entries, earlier } = place ?? state;
  const rows = useRows(entries, place?.tip);
  const { part: reader, missing } = useLate(lateReader);
  const load = useCallback(() => view.loadEarlier(), [view]);
  const beyond = useMemo(() => ({ state: earlier, load }), [earlier, load]);
  const { first, last, reveal, toEnd: showEnd } = useWindow(rows, box, top, bottom, beyond, reader !== null || missing);
  const whole = last === rows.length;
  const { atEnd, toEnd, leaveEnd } = useStickToBottom(box, content, whole, rows);
  const toLatest = useCallback(() => {
    view.leavePlace();
    showEnd();
    toEnd();
  }, [view, showEnd, toEnd]);
  const sought = useSought({
    ...{ state, view, entryId, entries, rows, first, last, reveal, leaveEnd, box, atEnd, toLatest },
  });
  useFollowSent(state.outgoing, toLatest);
  return {
    ...{ box, content, top, bottom },
    ...{ rows, first, last, whole, earlier, reader, atEnd, sought, toLatest },
  };
}

/** Scrolls to the end after sending, wherever the reader was. A message that already waits moves nobody who returns. */
function useFollowSent(outgoing: readonly OutgoingPrompt[], toLatest: () => void): void {
  const lastSent = outgoing.findLast((prompt) => prompt.mine)?.clientKey;
  const known = useRef(lastSent);
  useEffect(() => {
    if (lastSent && lastSent !== known.current) {
      toLatest();
    }
    known.current = lastSent;
  }, [lastSent, toLatest]);
}
