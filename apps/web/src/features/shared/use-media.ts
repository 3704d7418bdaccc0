import { useCallback, useSyncExternalStore } from "react";

/** Whether a media query holds. False where the page has no matchMedia. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = window.matchMedia?.(query);
      list?.addEventListener("change", listener);
      return () => list?.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia?.(query).matches ?? false);
}

/** There is room for the sidebar beside the page. */
export function useWide(): boolean {
  return useMedia("(min-width: 768px)");
}

/** A finger points here: Enter makes a new line, for there is a send button under the thumb. */
export function useTouch(): boolean {
  return useMedia("(pointer: coarse)");
}
