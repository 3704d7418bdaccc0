import { useEffect, useEffectEvent, useState } from "react";

/** How long a second Escape stops the turn, in milliseconds. */
const armedFor = 3_000;

/** What takes keys itself. */
const typing = "input,textarea,select,[contenteditable]";

/**
 * Escape stops the turn when it is pressed twice in the composer or the transcript: pressed once it may be meant for
 * something that has just closed. Returns true while the next one stops. Any other key takes the first one back, and a
 * selection, a menu, a dialog or an input method comes before.
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

/** keyCode 229 is how Safari says that an input method composes. */
function composes({ isComposing, keyCode }: KeyboardEvent): boolean {
  return isComposing || keyCode === 229;
}

/** Whether the focus is where the turn can be stopped: on nothing else. */
function isMeant(target: EventTarget | null): boolean {
  if (!(target instanceof Element) || document.querySelector("dialog[open]")) {
    return false;
  }
  const reads = target.closest("[data-transcript]") !== null && !target.closest(typing);
  return reads || target.closest("[data-composer]") !== null || target === document.body;
}

/** Gives up what is selected, if anything is. */
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
