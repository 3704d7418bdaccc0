import { useState } from "react";
import { sentence } from "./errors";

/** Does one thing at a time and keeps why it did not work. `busy` names what is being done. */
export function useAct() {
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const act = async (name: string, run: () => Promise<unknown>) => {
    setBusy(name);
    setError(null);
    try {
      await run();
    } catch (cause) {
      setError(sentence(cause));
    } finally {
      setBusy(null);
    }
  };
  return { busy, error, act };
}
