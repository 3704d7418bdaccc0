import { useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import type { Host, SessionView } from "../../api/contract";
import { keepDraft } from "./draft";
import type { Place } from "./history-context";

export interface HistoryActions {
  rewind(place: Place): Promise<void>;
  navigate(place: Place, summarize: boolean): Promise<void>;
  fork(place: Place): Promise<void>;
  label(place: Place, label: string): Promise<void>;
  compact(): Promise<void>;
}

/** What a page asks the host to do with the history of a session. `insert` gets a text that can be written anew. */
export function useHistoryActions(host: Host, view: SessionView, insert: (text: string) => void): HistoryActions {
  const navigate = useNavigate();
  return useMemo(() => {
    const { sessionId } = view;
    const head = () => ({ sessionId, clientKey: crypto.randomUUID() });
    const expectedLeaf = () => view.state.get().entries.at(-1)?.id ?? "";
    const moved = ({ text }: { text?: string }) => {
      if (text) insert(text);
    };
    return {
      rewind: async ({ entryId }) =>
        moved(
          await host.request("rewind_session", { ...head(), expectedLeaf: expectedLeaf(), targetEntryId: entryId }),
        ),
      navigate: async ({ entryId }, summarize) =>
        moved(
          await host.request("navigate_session", {
            ...head(),
            expectedLeaf: expectedLeaf(),
            targetEntryId: entryId,
            ...(summarize ? { summarize } : {}),
          }),
        ),
      fork: async ({ entryId }) => {
        const { session, text } = await host.request("fork_session", { ...head(), entryId });
        if (text) keepDraft(`${host.deviceId}/${session.id}`, text);
        await navigate({ to: "/d/$deviceId/s/$sessionId", params: { deviceId: host.deviceId, sessionId: session.id } });
      },
      label: async ({ entryId }, label) => {
        await host.request("set_label", { ...head(), entryId, label });
      },
      compact: async () => {
        await host.request("compact_session", head());
      },
    };
  }, [host, view, insert, navigate]);
}
