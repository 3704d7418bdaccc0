import { loadPage } from "./pages";

/** Loads the page that a link leads to as soon as a pointer, a finger or the focus is on the link. */
export function loadAhead(): void {
  const load = ({ target }: Event) => {
    const link = target instanceof Element ? target.closest("a") : null;
    if (link?.origin === location.origin) {
      loadPage(link.pathname).catch(() => {}); // opening the page retries and shows the error
    }
  };
  for (const type of ["pointerover", "touchstart", "focusin"]) {
    document.addEventListener(type, load, { passive: true });
  }
}
