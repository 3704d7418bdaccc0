import { createContext, useCallback, useContext, useSyncExternalStore } from "react";
import type { Readable, Scorel } from "../../api/contract";

export const ScorelContext = createContext<Scorel | null>(null);

/** Returns the one Scorel of the page. */
export function useScorel(): Scorel {
  const scorel = useContext(ScorelContext);
  if (!scorel) {
    throw new Error("useScorel needs a ScorelContext above it");
  }
  return scorel;
}

/** Returns the current value of a store; the component renders again when it changes. */
export function useReadable<T>(readable: Readable<T>): T {
  const subscribe = useCallback((listener: () => void) => readable.subscribe(listener), [readable]);
  const get = useCallback(() => readable.get(), [readable]);
  return useSyncExternalStore(subscribe, get);
}
