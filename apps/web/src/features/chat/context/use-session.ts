import { startTransition, useEffect, useRef, useState } from "react";
import type { Host, SessionState, SessionView } from "../../../api/contract";
import { answerEnds, onlyGrew } from "./partial";

export interface OpenSession {
  view: SessionView;
  state: SessionState;
}

/**
 * Holds a session while the page shows it; null at first, unless the session is open already. While an answer streams,
 * `state` does not change: a component that shows the answer reads it with `usePartial`, and nothing else is rendered
 * again.
 */
export function useSession(host: Host, sessionId: string): OpenSession | null {
  const [open, setOpen] = useState<OpenSession | null>(() => {
    const view = host.opened(sessionId);
    return view && { view, state: view.state.get() };
  });
  const drawn = useRef(false);
  useEffect(() => {
    drawn.current = open !== null && open.state.status !== "loading";
  }, [open]);
  useEffect(() => {
    const view = host.session(sessionId);
    let written = view.state.get();
    const publish = () => {
      const state = view.state.get();
      const slices = !drawn.current || answerEnds(written, state);
      written = state;
      const keep = (before: OpenSession | null) =>
        before?.view === view && (before.state === state || onlyGrew(before.state, state)) ? before : { view, state };
      // The first rows take long to render, as do the changes at the end of an answer. In slices, the browser stays
      // responsive.
      slices ? startTransition(() => setOpen(keep)) : setOpen(keep);
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
