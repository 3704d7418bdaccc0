import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";

/** How many rows are shown at first, and how many more each time the reader comes near the top. */
const page = 120;

/**
 * Shows the last rows of a long list, and earlier ones as the reader scrolls up
 * to `sentinel`. What is in sight stays where it is when rows are added above.
 */
export function useWindow(count: number, box: RefObject<HTMLElement | null>, sentinel: RefObject<HTMLElement | null>) {
  const [start, setStart] = useState(() => Math.max(0, count - page));
  const before = useRef<{ height: number; top: number } | null>(null);
  const first = Math.min(start, Math.max(0, count - 1)); // a list that was loaded anew may be shorter

  useLayoutEffect(() => {
    const element = box.current;
    if (element && before.current)
      element.scrollTop = before.current.top + element.scrollHeight - before.current.height;
    before.current = null;
  });

  useEffect(() => {
    const element = sentinel.current;
    if (!element || first === 0) return;
    const observer = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting || !box.current) return;
        before.current = { height: box.current.scrollHeight, top: box.current.scrollTop };
        setStart(Math.max(0, first - page));
      },
      { root: box.current, rootMargin: "800px 0px 0px 0px" },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, sentinel, first]);

  return first;
}
