import { useCallback, useSyncExternalStore } from "react";

/** Reports whether a media query matches; false if the page has no matchMedia. */
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

/** Reports whether there is room for the sidebar beside the page. */
export function useWide(): boolean {
  return useMedia("(min-width: 768px)");
}

/** Reports whether the pointer is a finger: Enter then makes a new line, because the send button is under the thumb. */
export function useTouch(): boolean {
  return useMedia("(pointer: coarse)");
}
