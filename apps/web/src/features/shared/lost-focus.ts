import { useEffect, useLayoutEffect, useRef } from "react";

/**
 * Reports whether the focused element near an element was removed or disabled: the browser then leaves the focus on the
 * page or the dialog.
 */
export function focusIsLost(near: Element | null): boolean {
  const { activeElement } = document;
  return activeElement === document.body || activeElement === (near?.closest("dialog") ?? null);
}

/** Gives a lost focus to an element when it appears in the place of a form. */
export function useLostFocus<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  useEffect(() => {
    if (focusIsLost(ref.current)) {
      ref.current?.focus();
    }
  }, []);
  return ref;
}

/** Returns the focus to where it was when an element with the focus is removed; otherwise to the transcript. */
export function useReturnedFocus<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  useLayoutEffect(() => {
    const own = ref.current;
    const before = document.activeElement;
    return () => {
      if (!own?.contains(document.activeElement)) {
        return;
      }
      const there = before instanceof HTMLElement && before !== document.body && before.isConnected;
      const target = there ? before : document.querySelector<HTMLElement>("[data-transcript]");
      target?.focus({ preventScroll: true });
    };
  }, []);
  return ref;
}
