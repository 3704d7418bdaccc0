import { useEffect, useRef } from "react";

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
