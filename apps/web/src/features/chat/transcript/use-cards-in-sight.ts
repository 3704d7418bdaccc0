import { type RefObject, useEffect, useState } from "react";

/** Selects the cards that wait for an answer. */
export const ASKS = "[data-asks]";

/**
 * Reports whether a part of any waiting card is visible in the scrolling element. `ids` names the cards; when it
 * changes, they are looked up again.
 */
export function useCardsInSight(box: RefObject<HTMLElement | null>, ids: string): boolean {
  const [inSight, setInSight] = useState(false);
  useEffect(() => {
    const cards = ids === "" ? [] : (box.current?.querySelectorAll(ASKS) ?? []);
    if (cards.length === 0) {
      setInSight(false);
      return;
    }
    const seen = new Set<Element>();
    const observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) {
          if (isIntersecting) {
            seen.add(target);
          } else {
            seen.delete(target);
          }
        }
        setInSight(seen.size > 0);
      },
      // The edge of a card is not readable.
      { root: box.current, rootMargin: "-48px 0px" },
    );
    for (const card of cards) {
      observer.observe(card);
    }
    return () => observer.disconnect();
  }, [box, ids]);
  return inSight;
}
