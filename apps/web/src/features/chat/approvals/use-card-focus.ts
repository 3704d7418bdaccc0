import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { bringIntoSight } from "../../shared/bring-into-sight";

export interface CardFocus {
  /** The element around all cards. */
  list: RefObject<HTMLDivElement | null>;
  /** The id of the card that has the focus. */
  focused: string | null;
  /** Records that an answer was given on a card. */
  pressed: (id: string) => void;
}

/**
 * Keeps the focus when cards are answered: it moves to the heading of the next card, or of the answered one if none
 * waits, and to the transcript when that disappears. A focus elsewhere, such as in the composer, stays there.
 *
 * `open` has the ids of the waiting cards, `done` those of answered cards that are still shown.
 */
export function useCardFocus(open: readonly string[], done: readonly string[]): CardFocus {
  const list = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState<string | null>(null);
  const held = useRef<string | null>(null);
  const answered = useRef(new Set<string>());
  useEffect(() => {
    const take = ({ target }: FocusEvent) => {
      const card = target instanceof Element && list.current?.contains(target) ? target.closest("[data-card]") : null;
      held.current = card?.getAttribute("data-card") ?? null;
      setFocused(held.current);
    };
    document.addEventListener("focusin", take);
    return () => document.removeEventListener("focusin", take);
  }, []);
  const opened = open.join(" ");
  const closed = done.join(" ");
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a changed set of cards moves the focus
  useLayoutEffect(() => {
    const { activeElement } = document;
    const nowhere = !activeElement || activeElement === document.body;
    const own = held.current;
    const gone = own !== null && !open.includes(own);
    // Some browsers do not focus a button that is clicked.
    const from = gone ? own : nowhere ? done.find((id) => answered.current.has(id)) : undefined;
    answered.current = new Set([...answered.current].filter((id) => open.includes(id)));
    if (from === undefined || from === null || !(nowhere || cardOf(list.current, from)?.contains(activeElement))) {
      return;
    }
    const next = open[0];
    if (next !== undefined) {
      showCard(cardOf(list.current, next));
    } else if (nowhere && done.includes(from)) {
      showCard(cardOf(list.current, from));
    } else if (nowhere) {
      list.current?.closest<HTMLElement>("[data-transcript]")?.focus({ preventScroll: true });
    }
  }, [opened, closed]);
  const pressed = useCallback((id: string) => {
    answered.current.add(id);
  }, []);
  return { list, focused, pressed };
}

function cardOf(list: Element | null, id: string): Element | null {
  return (
    [...(list?.querySelectorAll("[data-card]") ?? [])].find((card) => card.getAttribute("data-card") === id) ?? null
  );
}

/** Focuses the heading of a card, and scrolls until as much of the card as possible is visible. */
export function showCard(card: Element | null): void {
  card?.querySelector<HTMLElement>("[data-heading]")?.focus({ preventScroll: true });
  const box = card?.closest<HTMLElement>("[data-transcript]");
  if (!card || !box) {
    return;
  }
  const inner = card.getBoundingClientRect();
  const outer = box.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    bringIntoSight(box, card, "top");
  }
}
