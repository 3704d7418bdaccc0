import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Block, type BlockProps } from "./Block";
import { inTurn } from "./turns";

/** How far from what is in sight rows are drawn. */
const margin = "600px 0px";

/** Whether the element has come near what is in sight, or is drawn `now`. */
function useNear(element: RefObject<Element | null>, now: boolean): boolean {
  const [near, setNear] = useState(now);
  const drawn = near || now;
  useEffect(() => {
    const place = element.current;
    if (drawn || !place) {
      return;
    }
    let cancel = () => {};
    // The boxes in the box that scrolls may scroll as well.
    const options = { root: place.closest("[data-scrolls]"), rootMargin: margin, scrollMargin: margin };
    const observer = new IntersectionObserver((seen) => {
      cancel();
      const last = seen.at(-1);
      if (last?.isIntersecting) {
        cancel = inTurn(() => setNear(true), distance(last));
      }
    }, options);
    observer.observe(place);
    return () => {
      observer.disconnect();
      cancel();
    };
  }, [element, drawn]);
  return drawn;
}

/** How far a block is from the middle of what is in sight, in CSS pixels. */
function distance({ boundingClientRect: block, rootBounds }: IntersectionObserverEntry): number {
  return rootBounds ? Math.abs(block.top + block.bottom - rootBounds.top - rootBounds.bottom) / 2 : 0;
}

interface UndrawnProps {
  place: RefObject<HTMLTableSectionElement | null>;
  rows: number;
}

/** As high as rows that are not drawn. */
function Undrawn({ place, rows }: UndrawnProps) {
  return <tbody ref={place} className="block" data-testid="undrawn" style={{ height: `${rows * 1.25}rem` }} />;
}

export interface BlockInSightProps extends BlockProps {
  /** Is drawn at once. */
  now: boolean;
}

/** A block that is drawn once it comes near what is in sight. A jump to many blocks draws one at a time. */
export function BlockInSight({ now, ...props }: BlockInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, now) ? <Block {...props} /> : <Undrawn place={place} rows={props.rows.length} />;
}

export interface BlocksInSightProps {
  /** How many rows all of them have. */
  rows: number;
  now: boolean;
  children: () => ReactNode;
}

/** Blocks that are one as long as they are far from what is in sight: a long diff has hundreds of them. */
export function BlocksInSight({ rows, now, children }: BlocksInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, now) ? children() : <Undrawn place={place} rows={rows} />;
}
