import { useEffect, useState } from "react";

/** How many parts are rendered together at first, so that partly shown content does not visibly grow. */
const first = 2;

/** Counts up to a number of parts, each in its own task, so that the page never blocks. */
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
