import { useEffect, useState } from "react";
import type { Host, SessionState, SessionView } from "../../../api/contract";
import { onlyGrew } from "./partial";

export interface OpenSession {
  view: SessionView;
  state: SessionState;
}

/**
 * Holds a session while the page shows it; null for the first moment. While an answer is written, `state` stands still:
 * whoever shows the answer reads it with `usePartial`, and nothing else is drawn again.
 */
export function useSession(host: Host, sessionId: string): OpenSession | null {
  const [open, setOpen] = useState<OpenSession | null>(null);
  useEffect(() => {
    const view = host.session(sessionId);
    const publish = () => {
      const state = view.state.get();
      setOpen((before) => (before?.view === view && onlyGrew(before.state, state) ? before : { view, state }));
    };
    publish();
    const unsubscribe = view.state.subscribe(publish);
    return () => {
      unsubscribe();
      view.release();
    };
  }, [host, sessionId]);
  return open?.view.sessionId === sessionId ? open : null;
}
