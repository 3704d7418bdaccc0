import { useEffect, useRef } from "react";

/** True where what had the focus near an element is gone, or is disabled: the browser then leaves it to the page or the dialog. */
export function focusIsLost(near: Element | null): boolean {
  const { activeElement } = document;
  return activeElement === document.body || activeElement === (near?.closest("dialog") ?? null);
}

/** Gives an element the lost focus when it appears: it stands where a form was. */
export function useLostFocus<T extends HTMLElement>() {
  const ref = useRef<T>(null);
  useEffect(() => {
    if (focusIsLost(ref.current)) {
      ref.current?.focus();
    }
  }, []);
  return ref;
}
