import { useEffect, useEffectEvent, useState } from "react";

/** How long a second Escape stops the turn, in milliseconds. */
const armedFor = 3_000;

/** The elements that receive keys themselves. */
const typing = "input,textarea,select,[contenteditable]";

/**
 * Stops the turn when Escape is pressed twice in the composer or the transcript: a single press may be meant for
 * something that has just closed. Returns true while the next press stops the turn. Any other key cancels the first
 * press, and a selection, a menu, a dialog or an input method takes precedence.
 */
export function useEscapeStops(onStop: (() => void) | null): boolean {
  const [armed, setArmed] = useState(false);
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key !== "Escape" || event.defaultPrevented || composes(event) || !isMeant(event.target) || unselect()) {
      return setArmed(false);
    }
    if (event.repeat || !onStop) {
      return;
    }
    setArmed(!armed);
    if (armed) {
      onStop();
    }
  });
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    if (armed) {
      const timer = setTimeout(() => setArmed(false), armedFor);
      return () => clearTimeout(timer);
    }
  }, [armed]);
  return armed && onStop !== null;
}

/** Safari reports a composing input method as keyCode 229. */
function composes({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}

/** Reports whether the focus is in a place where Escape stops the turn. */
function isMeant(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || document.querySelector("dialog[open]")) {
    return false;
  }
  const reads = target.closest("[data-transcript]") !== null && !target.closest(typing);
  return reads || target.closest("[data-composer]") !== null || target === document.body;
}

/** Clears the selection; reports whether there was one. */
function unselect(): boolean {
  const { activeElement } = document;
  if (activeElement instanceof HTMLTextAreaElement && activeElement.selectionStart !== activeElement.selectionEnd) {
    activeElement.setSelectionRange(activeElement.selectionEnd, activeElement.selectionEnd);
    return true;
  }
  const selection = getSelection();
  if (!selection || selection.isCollapsed) {
    return false;
  }
  selection.removeAllRanges();
  return true;
}
