import { Store } from "../../api/store";

// A separate store: code that opens these dialogs does not load them.
const shown = new Store<"palette" | "shortcuts" | null>(null);

/** The dialog above the page. */
export const overlay = shown;

export const openPalette = () => shown.set("palette");
export const openShortcuts = () => shown.set("shortcuts");
export const closeOverlay = () => shown.set(null);

/**
 * Reports whether the keyboard has a Command key, which then opens the palette: Ctrl+K has another meaning in its
 * fields.
 */
export function isMac(): boolean {
  return /^(Mac|iP)/.test(navigator.platform);
}

/** Returns the keys that open the palette: as printed, and in the format of aria-keyshortcuts. */
export function paletteKeys(): { shown: string; aria: string } {
  return isMac() ? { shown: "⌘K", aria: "Meta+K" } : { shown: "Ctrl+K", aria: "Control+K" };
}
