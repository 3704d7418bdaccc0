import { startTransition, useEffect, useState } from "react";
import type { Late } from "./late";

/**
 * Loads late code after the first rendering. The components that use it then render in slices. `missing` reports
 * whether it could not be loaded.
 */
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
