import { useSyncExternalStore } from "react";
import { useMedia } from "../shared/use-media";

const storageName = "scorel.diff";

/** From this width of the page on two versions fit beside each other. */
const wide = "(min-width: 1200px)";

export interface SideBySide {
  /** There is room for it. */
  possible: boolean;
  on: boolean;
  toggle(): void;
}

/** Whether changes are shown side by side: where there is room, unless somebody chose otherwise in this browser. */
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

/** All that is shown hears of it, as other tabs do. */
function write(value: string): void {
  try {
    localStorage.setItem(storageName, value);
  } catch {} // storage is closed: it stays as it is
  window.dispatchEvent(new StorageEvent("storage", { key: storageName }));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener("storage", listener);
  return () => window.removeEventListener("storage", listener);
}
