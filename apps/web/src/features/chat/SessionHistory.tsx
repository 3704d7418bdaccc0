import { pathTo } from "@scorel/protocol/tree";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import type { Host } from "../../api/contract";
import { HistoryContext, labelsOf, type Place } from "./history-context";
import { PlaceSheet } from "./PlaceSheet";
import { TreeSheet } from "./TreeSheet";
import { useHistoryActions } from "./use-history-actions";
import type { OpenSession } from "./use-session";

export interface SessionHistoryProps {
  host: Host;
  open: OpenSession;
  tree: boolean;
  onTree: (open: boolean) => void;
  /** This browser may change the session. */
  allowed: boolean;
  /** Takes the text of a message that can be written anew. */
  onInsert: (insert: { text: string }) => void;
  children: ReactNode;
}

/** The menus of the places of a session, and the sheet with its branches. */
export function SessionHistory({ host, open, tree, onTree, allowed, onInsert, children }: SessionHistoryProps) {
  const { state, view } = open;
  const [menu, setMenu] = useState<{ place: Place; onPath: boolean } | null>(null);
  const insert = useCallback((text: string) => onInsert({ text }), [onInsert]);
  const actions = useHistoryActions(host, view, insert);
  const labels = useMemo(() => labelsOf(state.entries), [state.entries]);
  const usable = allowed && state.status === "live";
  const history = useMemo(
    () => ({ labels, open: usable ? (place: Place) => setMenu({ place, onPath: true }) : null }),
    [labels, usable],
  );
  return (
    <HistoryContext value={history}>
      {children}
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
    </HistoryContext>
  );
}

// A rewind does not go past a compaction; going there is to leave a branch.
function beforeCompaction(entries: OpenSession["state"]["entries"], entryId: string): boolean {
  const path = pathTo(entries);
  const last = path.findLastIndex((entry) => entry.type === "compaction");
  return last >= 0 && path.findIndex((entry) => entry.id === entryId) < last;
}
