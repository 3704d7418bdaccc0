import { useLayoutEffect } from "react";
import { closeOverlay, isMac, openPalette, openShortcuts, overlay } from "../shared/overlay";

const typing = "input,textarea,select,[contenteditable]";

/**
 * Listens to the keys that open a dialog on every page. It is part of the page's frame: a key that is pressed before the
 * dialogs are loaded opens them afterwards.
 */
export function OverlayKeys() {
  useLayoutEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      closeOverlay();
    };
  }, []);
  return null;
}

function onKey(event: KeyboardEvent): void {
  const { target, key, ctrlKey, metaKey, altKey, shiftKey } = event;
  if (event.defaultPrevented || event.isComposing || altKey || !(target instanceof Element)) {
    return;
  }
  const covered = document.querySelector("dialog[open]") !== null;
  const mac = isMac();
  if (key.toLowerCase() === "k" && (mac ? metaKey && !ctrlKey : ctrlKey && !metaKey) && !shiftKey) {
    // A shell uses Ctrl+K itself.
    if (!mac && target.closest(".xterm")) {
      return;
    }
    // The browser would open its own search.
    event.preventDefault();
    if (overlay.get() === "palette") {
      closeOverlay();
    } else if (!covered) {
      openPalette();
    }
  } else if (key === "?" && !ctrlKey && !metaKey && !covered && !target.closest(typing)) {
    event.preventDefault();
    openShortcuts();
  }
}
