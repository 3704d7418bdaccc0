import { pathTo } from "@scorel/protocol/tree";
import { lazy, type ReactNode, useMemo, useRef, useState } from "react";
import type { Host } from "../../../api/contract";
import { useToast } from "../../../components/Toast";
import { LazyPart } from "../../shared/MissingPart";
import { chunk } from "../../shared/missing-chunk";
import { withHelp } from "../../shared/with-help";
import {
  HistoryContext,
  type Insert,
  InsertContext,
  labelsOf,
  type Place,
  type Step,
} from "../context/history-context";
import type { OpenSession } from "../context/use-session";
import { useHistoryActions } from "./use-history-actions";
import { useVersions } from "./use-versions";

const PlaceSheet = lazy(chunk(() => import("./PlaceSheet")));
const TreeSheet = lazy(chunk(() => import("./TreeSheet")));

export interface SessionHistoryProps {
  host: Host;
  open: OpenSession;
  tree: boolean;
  onTree: (open: boolean) => void;
  /** Whether this browser may change the session. */
  allowed: boolean;
  /** Called with a prompt to edit. */
  onInsert: (insert: Insert) => void;
  children: ReactNode;
}

/** The menus of a session's entries, and the sheet with its branches. */
export function SessionHistory({ host, open, tree, onTree, allowed, onInsert, children }: SessionHistoryProps) {
  const { state, view } = open;
  const [menu, setMenu] = useState<{ place: Place; onPath: boolean } | null>(null);
  const actions = useHistoryActions(host, view, onInsert);
  const labels = useMemo(() => labelsOf(state.entries), [state.entries]);
  const versions = useVersions(host, open);
  const toast = useToast();
  const step = useRef<Step | null>(null);
  const usable = allowed && state.status === "live";
  // The host changes branches only while no turn runs and no prompt waits.
  const idle = usable && state.live.turn === null && !state.live.work && state.outgoing.length === 0;
  const history = useMemo(() => {
    const tell = (cause: unknown) => toast(withHelp(cause));
    return {
      ...{ labels, versions, step },
      open: usable ? (place: Place) => setMenu({ place, onPath: true }) : null,
      go: idle
        ? (end: string) =>
            void actions.navigate({ entryId: end, before: false, text: "" }, false).catch((cause: unknown) => {
              step.current = null;
              tell(cause);
            })
        : null,
      resend: idle ? (entryId: string) => void actions.resend(entryId).catch(tell) : null,
    };
  }, [labels, versions, usable, idle, actions, toast]);
  return (
    <HistoryContext value={history}>
      <InsertContext value={allowed ? onInsert : null}>{children}</InsertContext>
      <LazyPart onClose={() => onTree(false)}>
        {tree ? (
          <TreeSheet
            host={host}
            sessionId={view.sessionId}
            leaf={state.entries.at(-1)?.id ?? ""}
            onPlace={(place, onPath) => setMenu({ place, onPath })}
            onCompact={actions.compact}
            onClose={() => onTree(false)}
          />
        ) : null}
      </LazyPart>
      <LazyPart onClose={() => setMenu(null)}>
        {menu ? (
          <PlaceSheet
            place={menu.place}
            label={labels.get(menu.place.entryId) ?? ""}
            actions={actions}
            onPath={menu.onPath && !beforeCompaction(state.entries, menu.place.entryId)}
            onMoved={() => {
              setMenu(null);
              onTree(false);
            }}
            onClose={() => setMenu(null)}
          />
        ) : null}
      </LazyPart>
    </HistoryContext>
  );
}

// A rewind cannot go back before a compaction; going there means leaving the branch.
function beforeCompaction(entries: OpenSession["state"]["entries"], entryId: string): boolean {
  const path = pathTo(entries);
  const last = path.findLastIndex((entry) => entry.type === "compaction");
  return last >= 0 && path.findIndex((entry) => entry.id === entryId) < last;
}
