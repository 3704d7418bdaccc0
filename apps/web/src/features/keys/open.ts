import { Store } from "../../api/store";

// A store of its own: whoever opens these loads nothing of them.
const shown = new Store<"palette" | "shortcuts" | null>(null);

/** What is in sight above the page. */
export const overlay = shown;

export const openPalette = () => shown.set("palette");
export const openShortcuts = () => shown.set("shortcuts");
export const closeOverlay = () => shown.set(null);

/** Whether the keyboard has a Command key, which opens the palette there: Ctrl+K means something else in its fields. */
export function isMac(): boolean {
  return /^(Mac|iP)/.test(navigator.platform);
}

/** The keys that open the palette: as they are printed, and as aria-keyshortcuts wants them. */
export function paletteKeys(): { shown: string; aria: string } {
  return isMac() ? { shown: "⌘K", aria: "Meta+K" } : { shown: "Ctrl+K", aria: "Control+K" };
}
