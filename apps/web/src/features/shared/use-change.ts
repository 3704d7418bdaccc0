import { useState } from "react";
import { useAct } from "./use-act";

/**
 * Runs one change at a time, then loads the state again, also after a failure. A change returns what a person has to
 * know, which is kept until the next one.
 */
export function useChange(refetch: () => Promise<unknown>) {
  const [done, setDone] = useState<string | null>(null);
  const { busy, error, act } = useAct();
  const change = (name: string, run: () => Promise<string | null>) => {
    setDone(null);
    return act(name, async () => {
      try {
        setDone(await run());
      } finally {
        await refetch();
      }
    });
  };
  return { busy, error, done, setDone, change };
}
