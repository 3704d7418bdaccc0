import { useEffect, useState } from "react";
import type { Host, SessionState, SessionView } from "../../../api/contract";

export interface OpenSession {
  view: SessionView;
  state: SessionState;
}

/** Holds a session while the page shows it; null for the first moment. */
export function useSession(host: Host, sessionId: string): OpenSession | null {
  const [open, setOpen] = useState<OpenSession | null>(null);
  useEffect(() => {
    const view = host.session(sessionId);
    const publish = () => setOpen({ view, state: view.state.get() });
    publish();
    const unsubscribe = view.state.subscribe(publish);
    return () => {
      unsubscribe();
      view.release();
    };
  }, [host, sessionId]);
  return open?.view.sessionId === sessionId ? open : null;
}
