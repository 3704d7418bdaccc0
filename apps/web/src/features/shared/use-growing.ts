import { useEffect, useState } from "react";

/** How many are drawn together at first: what is shown only in part does not grow before one's eyes. */
const first = 2;

/** Counts up to a number of parts, each in a task of its own, so that the page never stands still for them. */
export function useGrowing(most: number): number {
  const [drawn, setDrawn] = useState(first);
  useEffect(() => {
    if (drawn >= most) {
      return;
    }
    const timer = setTimeout(() => setDrawn((now) => now + 1));
    return () => clearTimeout(timer);
  }, [drawn, most]);
  return Math.min(drawn, most);
}
