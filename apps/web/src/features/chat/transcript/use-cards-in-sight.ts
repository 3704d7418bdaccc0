import { type RefObject, useEffect, useState } from "react";

/** Marks the cards that wait for an answer. */
export const ASKS = "[data-asks]";

/**
 * Whether a part of any card that waits is in sight in the box that scrolls.
 * `ids` name the cards; others under another name are looked for anew.
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
      // An edge of a card is none that can be read.
      { root: box.current, rootMargin: "-48px 0px" },
    );
    for (const card of cards) {
      observer.observe(card);
    }
    return () => observer.disconnect();
  }, [box, ids]);
  return inSight;
}
