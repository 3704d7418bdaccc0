import { type RefObject, useEffect, useEffectEvent } from "react";

export interface InboxKeys {
  box: RefObject<HTMLElement | null>;
  /** Handlers for the focused item, by key. */
  item: Readonly<Record<string, (id: string) => void>>;
  /** Handlers for the whole page, by key. */
  page: Readonly<Record<string, () => void>>;
}

const typing = "input,textarea,select,[contenteditable]";

/** Sessions, and their approvals and questions. */
const stops = "[data-stop],[data-asks] [data-heading]";

/**
 * Handles the keys of the inbox: j and k move, the others are given. Keys in a field or beside a dialog are ignored.
 */
export function useInboxKeys({ box, item, page }: InboxKeys): void {
  const onKey = useEffectEvent((event: KeyboardEvent) => {
    const { target, key } = event;
    const modified = event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented;
    if (modified || !(target instanceof Element) || target.closest(typing) || document.querySelector("dialog[open]")) {
      return;
    }
    const id = target.closest("[data-item]")?.getAttribute("data-item");
    const run = moves(key, box.current) ?? page[key] ?? (id && !event.repeat ? item[key] : undefined);
    if (run) {
      event.preventDefault();
      run(id ?? "");
    }
  });
  useEffect(() => {
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

function moves(key: string, box: Element | null): (() => void) | undefined {
  const step = { j: 1, k: -1 }[key];
  return step && box ? () => focusStop(box, step) : undefined;
}

/** Moves the focus to the next stop, or to the previous one. */
export function focusStop(box: Element, step: number): void {
  const all = [...box.querySelectorAll<HTMLElement>(stops)];
  const { activeElement } = document;
  const at = all.findIndex((stop) => (stop.closest("[data-card]") ?? stop).contains(activeElement));
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step];
  next?.focus({ preventScroll: true });
  (next?.closest("[data-card]") ?? next)?.scrollIntoView({ block: "nearest" });
}
