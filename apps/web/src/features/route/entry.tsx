import { createContext, type ReactNode, useContext, useMemo } from "react";
import { Router, useRoute } from "wouter";
import { useHistoryState, usePathname, useSearch } from "wouter/use-browser-location";
import { paths } from "./address";
import { type EntryState, entryState, navigate } from "./history";

/** An entry of the browser's history: what a page shows. */
export interface Entry {
  readonly path: string;
  /** The part of the address from the question mark; empty if there is none. */
  readonly search: string;
  readonly state: EntryState;
}

const EntryContext = createContext<Entry>({ path: "", search: "", state: entryState(null) });

/** Returns the entry of the page around a component. */
export const useEntry = () => useContext(EntryContext);

/** Shows an entry: everything inside sees its address. */
export function AtEntry({ entry, children }: { entry: Entry; children: ReactNode }) {
  const { path } = entry;
  const hook = useMemo(() => (): [string, typeof navigate] => [path, navigate], [path]);
  return (
    <EntryContext value={entry}>
      <Router hook={hook}>{children}</Router>
    </EntryContext>
  );
}

/** Shows the current entry of the browser's history. */
export function AtCurrentEntry({ children }: { children: ReactNode }) {
  const path = usePathname();
  const search = useSearch();
  const stored = useHistoryState<unknown>();
  const entry = useMemo(() => ({ path, search, state: entryState(stored) }), [path, search, stored]);
  return <AtEntry entry={entry}>{children}</AtEntry>;
}

/** Returns the parameters after the question mark of the page's address. */
export function useSearchParams(): URLSearchParams {
  const { search } = useEntry();
  return useMemo(() => new URLSearchParams(search), [search]);
}

/** Returns which machine and session the address names, on any page. */
export function useOpen(): { deviceId?: string | undefined; sessionId?: string | undefined } {
  const [, session] = useRoute(paths.session);
  const [, machine] = useRoute(`${paths.machine}/*?`);
  return { deviceId: machine?.deviceId, sessionId: session?.sessionId };
}
