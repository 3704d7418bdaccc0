import { useSyncExternalStore } from "react";
import { useMedia } from "../shared/use-media";

const storageName = "scorel.diff";

/** The width of the page from which two versions fit side by side. */
const wide = "(min-width: 1200px)";

export interface SideBySide {
  /** Whether there is room for it. */
  possible: boolean;
  on: boolean;
  toggle(): void;
}

/** Whether changes are shown side by side: if there is room, unless the person chose otherwise in this browser. */
export function useSideBySide(): SideBySide {
  const possible = useMedia(wide);
  const stacked = useSyncExternalStore(subscribe, () => read() === "stacked");
  const on = possible && !stacked;
  return { possible, on, toggle: () => write(on ? "stacked" : "") };
}

function read(): string {
  try {
    return localStorage.getItem(storageName) ?? "";
  } catch {
    return "";
  }
}

/** Notifies this page as the browser does other tabs. */
function write(value: string): void {
  try {
    localStorage.setItem(storageName, value);
  } catch {} // storage is unavailable: nothing changes
  window.dispatchEvent(new StorageEvent("storage", { key: storageName }));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  return () => window.removeEventListener("storage", listener);
}
