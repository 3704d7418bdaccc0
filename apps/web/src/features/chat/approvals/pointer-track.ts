// The position of the mouse or pen on the page. A finger has no position between two touches.
import { createContext } from "react";

export interface Point {
  x: number;
  y: number;
}

export class PointerTrack {
  /** Null before the first movement and while the pointer is outside the page. */
  at: Point | null = null;
  readonly #watchers = new Set<() => void>();

  /** Tracks the pointer until the returned function is called. */
  listen(): () => void {
    const move = ({ pointerType, clientX: x, clientY: y }: PointerEvent) => {
      if (pointerType !== "touch") {
        this.#set({ x, y });
      }
    };
    const leave = () => this.#set(null);
    const options = { capture: true, passive: true } as const;
    const root = document.documentElement;
    window.addEventListener("pointermove", move, options);
    window.addEventListener("pointerdown", move, options);
    root.addEventListener("pointerleave", leave);
    return () => {
      window.removeEventListener("pointermove", move, options);
      window.removeEventListener("pointerdown", move, options);
      root.removeEventListener("pointerleave", leave);
    };
  }

  /** Calls `watcher` after each movement. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #set(at: Point | null): void {
    this.at = at;
    for (const watcher of this.#watchers) {
      watcher();
    }
  }
}

/** The pointer of the page. The default has no position. */
export const PointerContext = createContext(new PointerTrack());
