import { lazy } from "react";
import { t } from "../../i18n/keys";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import { closeOverlay, overlay } from "../shared/overlay";
import { useReadable } from "../shared/scorel-context";

const Palette = lazy(chunk(() => import("./Palette")));
const Shortcuts = lazy(chunk(() => import("./Shortcuts")));

/** The dialogs that keys open on every page, and the skip link, which comes first on the page. */
export default function GlobalKeys() {
  const open = useReadable(overlay);
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

function toMain(): void {
  const main = document.querySelector<HTMLElement>("main");
  if (main) {
    main.tabIndex = -1;
    main.classList.add("outline-none");
    main.focus();
  }
}
