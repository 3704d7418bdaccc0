import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { t } from "../../i18n/move";
import { withHelp } from "../shared/with-help";
import { arrangeMove, currentMove, isOver, type Move } from "./move-session";

/** How often the host is asked for the progress of a move, in milliseconds. */
const lookEvery = 300;

/** A move of a session: a pending one, or one begun here. */
export function useMove(from: Host, session: SessionSummary, onDone: () => void) {
  const [move, setMove] = useState<Move | null>(null);
  const [arranging, setArranging] = useState(false);
  const [error, setError] = useState<ReactNode>(null);
  const abort = useRef<AbortController | null>(null);
  const done = useRef(onDone);
  done.current = onDone;
  const take = useRef((now: Move) => {
    if (now.state === "done") {
      done.current();
    } else if (now.state === "canceled") {
      setMove(null);
      setError(now.error ? t("move.progress.notMoved", { reason: now.error }) : t("move.progress.notMovedShort"));
    } else {
      setMove(now);
    }
  });

  useEffect(() => {
    void currentMove(from, session.id).then(
      (now) => now && setMove(now),
      () => {},
    ); // an older host without moves
  }, [from, session.id]);

  const moveId = move?.id;
  useEffect(() => {
    if (!moveId) {
      return;
    }
    const look = () =>
      from.request("get_move", { moveId }).then(
        ({ move: now }) => take.current(now),
        () => {},
      );
    const timer = setInterval(() => void look(), lookEvery);
    return () => clearInterval(timer);
  }, [from, moveId]);

  const begin = async (to: Host, projectId: string) => {
    const aborting = new AbortController();
    const { signal } = aborting;
    abort.current = aborting;
    setError(null);
    setArranging(true);
    const arranged = arrangeMove({ from, to, sessionId: session.id, projectId, wait: session.running, signal });
    try {
      // A person who cancels need not wait for the turn. The machines' preparations are canceled once they answer.
      take.current(await Promise.race([arranged, aborted(signal)]));
    } catch (err) {
      setError(signal.aborted ? t("move.progress.notMovedShort") : withHelp(err));
    } finally {
      setArranging(false);
    }
  };
  const cancel = async () => {
    abort.current?.abort();
    if (move && !isOver(move)) {
      try {
        take.current((await from.request("cancel_move", { moveId: move.id })).move);
      } catch (err) {
        setError(withHelp(err));
      }
    }
  };
  return { move, arranging, error, begin, cancel };
}

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, fail) => signal.addEventListener("abort", () => fail(signal.reason), { once: true }));
}
