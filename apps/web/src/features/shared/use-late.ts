import { startTransition, useEffect, useState } from "react";
import type { Late } from "./late";

/** Loads it once the page is drawn. What shows it is then drawn in slices. `missing` is whether it cannot be fetched. */
export function useLate<T>(of: Late<T>): { part: T | null; missing: boolean } {
  const [known, setKnown] = useState(() => ({ part: of.now(), missing: false }));
  const waits = known.part === null;
  useEffect(() => {
    if (!waits) {
      return;
    }
    let here = true;
    const tell = (part: T | null) => here && startTransition(() => setKnown({ part, missing: part === null }));
    of.load().then(tell, () => tell(null));
    return () => {
      here = false;
    };
  }, [of, waits]);
  return known;
}
