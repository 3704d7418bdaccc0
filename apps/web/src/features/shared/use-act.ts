import { type ReactNode, useState } from "react";
import { withHelp } from "./with-help";

/** Runs one action at a time and keeps the error of the last one. `busy` names the running action. */
export function useAct() {
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<ReactNode>(null);
  const act = async (name: string, run: () => Promise<unknown>) => {
    setBusy(name);
    setError(null);
    try {
      await run();
    } catch (cause) {
      setError(withHelp(cause));
    } finally {
      setBusy(null);
    }
  };
  return { busy, error, act };
}
