import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Pairing, PairingState } from "../../api/contract";
import { useScorel } from "../shared/scorel-context";
import { takeFragment } from "./fragment";

export interface PairingControl {
  state: PairingState;
  /** How the current attempt began. */
  by: "showing" | "redeeming";
  /** Starts over with a new code. */
  showCode(): void;
  redeem(code: string): void;
}

const requesting: PairingState = { step: "requesting" };
const noStore = { get: () => requesting, subscribe: () => () => {} };

/**
 * Runs one pairing at a time; a new one cancels the previous one, and leaving the page cancels the last. `code` comes
 * from a link and is redeemed at once.
 */
export function usePairing(code: string | null): PairingControl {
  const scorel = useScorel();
  const [attempt, setAttempt] = useState<{ code: string | null }>({ code });
  const [pairing, setPairing] = useState<Pairing | null>(null);

  useEffect(() => {
    const started = attempt.code === null ? scorel.startPairing() : scorel.redeemPairing(attempt.code);
    setPairing(started);
    return () => {
      if (started.state.get().step !== "done") {
        started.cancel();
      }
    };
  }, [attempt, scorel]);

  // Opening a link while the page is shown changes only the fragment.
  useEffect(() => {
    const follow = () => {
      const next = takeFragment(window);
      if (next) {
        setAttempt({ code: next });
      }
    };
    window.addEventListener("hashchange", follow);
    return () => window.removeEventListener("hashchange", follow);
  }, []);

  const store = pairing?.state ?? noStore;
  const state = useSyncExternalStore(
    useCallback((listener: () => void) => store.subscribe(listener), [store]),
    useCallback(() => store.get(), [store]),
  );
  return {
    state,
    by: attempt.code === null ? "showing" : "redeeming",
    showCode: () => setAttempt({ code: null }),
    redeem: (text) => setAttempt({ code: text }),
  };
}
