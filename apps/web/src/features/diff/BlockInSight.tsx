import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { visible } from "../shared/visible";
import { Block, type BlockProps } from "./Block";
import { drawHeld } from "./held-end";
import { shownChars } from "./LineText";
import { type DiffRow, linesOf } from "./rows";
import { inTurn } from "./turns";

/** How far outside the visible area rows are rendered. */
const margin = "600px 0px";

/**
 * Reports whether the element has come near the visible area, or is rendered `now`. Until then it is hidden from all
 * but a search of the browser.
 */
function useNear(element: RefObject<Element | null>, lines: number, now: boolean): boolean {
  const [near, setNear] = useState(now);
  const drawn = near || now;
  useEffect(() => {
    const place = element.current;
    if (drawn || !place) {
      return;
    }
    let cancel = () => {};
    place.setAttribute("hidden", "until-found"); // React knows no value of it
    // The browser has found its text and is about to scroll to it: rendered at once, the rows are found in its place.
    const draw = () => flushSync(() => setNear(true));
    place.addEventListener("beforematch", draw);
    // Nested boxes in the scrolling box may scroll as well.
    const options = { root: place.closest("[data-scrolls]"), rootMargin: margin, scrollMargin: margin };
    const observer = new IntersectionObserver((seen) => {
      cancel();
      const last = seen.at(-1);
      if (last?.isIntersecting) {
        cancel = inTurn(() => drawHeld(place, lines, draw), distance(last));
      }
    }, options);
    observer.observe(place);
    return () => {
      observer.disconnect();
      place.removeEventListener("beforematch", draw);
      cancel();
    };
  }, [element, lines, drawn]);
  return drawn;
}

/** Returns the distance of a block from the middle of the visible area, in CSS pixels. */
function distance({ boundingClientRect: block, rootBounds }: IntersectionObserverEntry): number {
  return rootBounds ? Math.abs(block.top + block.bottom - rootBounds.top - rootBounds.bottom) / 2 : 0;
}

interface UndrawnProps {
  place: RefObject<HTMLTableSectionElement | null>;
  rows: readonly DiffRow[];
}

/** A placeholder with the height of the rows, which a search of the browser finds by their text. */
function Undrawn({ place, rows }: UndrawnProps) {
  const text = useMemo(() => rows.map(textOf).join("\n"), [rows]);
  return (
    <tbody ref={place} className="diff-undrawn" data-testid="undrawn" style={{ height: `${rows.length * 1.25}rem` }}>
      <tr className="block">
        <td className="block">{text}</td>
      </tr>
    </tbody>
  );
}

/** Returns what can be found of a row: as much of a long line as it shows at first. */
function textOf(row: DiffRow): string {
  return [...new Set(linesOf(row))].map(({ text }) => visible(text.slice(0, shownChars))).join("  ");
}

export interface BlockInSightProps extends BlockProps {
  /** Whether it is rendered at once. */
  now: boolean;
}

/** A block that is rendered once it comes near the visible area. A jump to many blocks renders one at a time. */
export function BlockInSight({ now, ...props }: BlockInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, props.rows.length, now) ? <Block {...props} /> : <Undrawn place={place} rows={props.rows} />;
}

export interface BlocksInSightProps {
  /** The rows of all of them. */
  rows: readonly DiffRow[];
  now: boolean;
  children: () => ReactNode;
}

/** Blocks that are one element while they are far from the visible area: a long diff has hundreds of them. */
export function BlocksInSight({ rows, now, children }: BlocksInSightProps) {
  const place = useRef<HTMLTableSectionElement>(null);
  return useNear(place, rows.length, now) ? children() : <Undrawn place={place} rows={rows} />;
}
