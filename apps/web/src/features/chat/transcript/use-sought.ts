import { useCallback, useEffect, useRef } from "react";
import type { SessionState, SessionView } from "../../../api/contract";
import type { SessionEntry } from "../../../api/types";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { type JumpOptions, useJump } from "./use-jump";
import { useKeptPlace } from "./use-kept-place";

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

export interface SoughtOptions extends Pick<JumpOptions, "rows" | "first" | "last" | "reveal" | "leaveEnd" | "box"> {
  state: SessionState;
  view: SessionView;
  /** The entry of the address; undefined for none. */
  entryId: string | undefined;
  entries: readonly SessionEntry[];
  atEnd: boolean;
  toLatest: () => void;
}

/**
 * Scrolls to the entry of the address, or to where the reader was before. Returns the key of the row that was sought;
 * undefined if the reader returned.
 */
export function useSought({ state, view, entryId, atEnd, toLatest, ...jump }: SoughtOptions): string | undefined {
  const { target, back } = useKeptPlace(view.sessionId, entryId, jump.box, jump.rows, atEnd && !state.place);
  const toast = useToast();
  const seek = useCallback((sought: string) => view.seek(sought), [view]);
  // A reader who returns to a deleted entry is at the end, as without a target.
  const onMissing = useCallback(
    (why: keyof typeof notThere) => (back ? toLatest() : toast(notThere[why])),
    [back, toLatest, toast],
  );
  const key = useJump({ ...jump, target: useSettled(target, state, atEnd), seek, onMissing });
  return back ? undefined : key;
}

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
