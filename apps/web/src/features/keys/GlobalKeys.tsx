import { lazy, useEffect } from "react";
import { t } from "../../i18n/keys";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { closeOverlay, isMac, openPalette, openShortcuts, overlay } from "../shared/overlay";
import { useReadable } from "../shared/scorel-context";

const Palette = lazy(chunk(() => import("./Palette")));
const Shortcuts = lazy(chunk(() => import("./Shortcuts")));

const typing = "input,textarea,select,[contenteditable]";

/** The keys that work on every page, the dialogs that they open, and the skip link, which comes first on the page. */
export default function GlobalKeys() {
  const open = useReadable(overlay);
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      closeOverlay();
    };
  }, []);
  return (
    <>
      <button
        type="button"
        data-testid="skip"
        onClick={toMain}
        className="sr-only rounded-md bg-ink px-4 py-2 font-medium text-bg text-sm focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:px-4 focus:py-2"
      >
        {t("keys.globalKeys.skip")}
      </button>
      <LazyPart onClose={closeOverlay}>
        {open === "palette" ? <Palette /> : open === "shortcuts" ? <Shortcuts /> : null}
      </LazyPart>
    </>
  );
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

function toMain(): void {
  const main = document.querySelector<HTMLElement>("main");
  if (main) {
    main.tabIndex = -1;
    main.classList.add("outline-none");
    main.focus();
  }
}
