import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

/** A smaller distance from the end counts as the end, in CSS pixels. */
const near = 32;

/**
 * Keeps a scrolling box at its end while its content grows, until the reader scrolls up; back at the end, it follows
 * again. It never moves a reader who has scrolled elsewhere. The end counts only while `whole`: otherwise more may
 * follow the shown rows. `rows` are the shown rows: changes of them are followed before a scroll event is attributed to
 * the reader.
 */
export function useStickToBottom(
  box: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  whole: boolean,
  rows: readonly unknown[],
) {
  const wholeNow = useRef(whole);
  const stuck = useRef(true);
  const last = useRef({ top: 0, height: 0 });
  const [atEnd, setAtEnd] = useState(true);

  const follow = useCallback(() => {
    const element = box.current;
    if (!element) {
      return;
    }
    if (stuck.current && wholeNow.current) {
      element.scrollTop = element.scrollHeight;
    }
    last.current = { top: element.scrollTop, height: element.scrollHeight };
    setAtEnd(element.scrollHeight - element.scrollTop - element.clientHeight < near);
  }, [box]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the end moves with the rows
  useLayoutEffect(() => {
    wholeNow.current = whole;
    follow();
  }, [follow, whole, rows]);

  useEffect(() => {
    const element = box.current;
    const inner = content.current;
    if (!element || !inner) {
      return;
    }
    const onScroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = element;
      const distance = scrollHeight - scrollTop - clientHeight;
      // Shrinking content also moves the view up; only a reader does so at the same height.
      const wentUp = scrollTop < last.current.top - 1 && scrollHeight >= last.current.height;
      if (wentUp) {
        stuck.current = false;
      } else if (distance < near && wholeNow.current) {
        stuck.current = true;
      }
      last.current = { top: scrollTop, height: scrollHeight };
      setAtEnd(distance < near);
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const observer = new ResizeObserver(follow);
    observer.observe(inner);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      observer.disconnect();
    };
  }, [box, content, follow]);

  const toEnd = useCallback(() => {
    stuck.current = true;
    follow();
  }, [follow]);

  const leaveEnd = useCallback(() => {
    stuck.current = false;
  }, []);

  return { atEnd: atEnd && whole, toEnd, leaveEnd };
}
