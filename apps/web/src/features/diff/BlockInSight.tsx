import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import { Block, type BlockProps } from "./Block";
import { inTurn } from "./turns";

/** How far outside the visible area rows are rendered. */
const margin = "600px 0px";

/** Reports whether the element has come near the visible area, or is rendered `now`. */
function useNear(element: RefObject<Element | null>, now: boolean): boolean {
  const [near, setNear] = useState(now);
  const drawn = near || now;
  useEffect(() => {
    const place = element.current;
    if (drawn || !place) {
      return;
    }
    let cancel = () => {};
    // Nested boxes in the scrolling box may scroll as well.
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

/** Returns the distance of a block from the middle of the visible area, in CSS pixels. */
function distance({ boundingClientRect: block, rootBounds }: IntersectionObserverEntry): number {
  return rootBounds ? Math.abs(block.top + block.bottom - rootBounds.top - rootBounds.bottom) / 2 : 0;
}

interface UndrawnProps {
  place: RefObject<HTMLTableSectionElement | null>;
  rows: number;
}

/** A placeholder with the height of the rows. */
function Undrawn({ place, rows }: UndrawnProps) {
  return <tbody ref={place} className="block" data-testid="undrawn" style={{ height: `${rows * 1.25}rem` }} />;
}

export interface BlockInSightProps extends BlockProps {
  /** Whether it is rendered at once. */
  now: boolean;
}

/** A block that is rendered once it comes near the visible area. A jump to many blocks renders one at a time. */
export function BlockInSight({ now, ...props }: BlockInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, now) ? <Block {...props} /> : <Undrawn place={place} rows={props.rows.length} />;
}

export interface BlocksInSightProps {
  /** The number of rows in all of them. */
  rows: number;
  now: boolean;
  children: () => ReactNode;
}

/** Blocks that are one element while they are far from the visible area: a long diff has hundreds of them. */
export function BlocksInSight({ rows, now, children }: BlocksInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, now) ? children() : <Undrawn place={place} rows={rows} />;
}
