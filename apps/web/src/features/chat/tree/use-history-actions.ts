import { useMemo } from "react";
import type { Host, SessionView } from "../../../api/contract";
import type { Block, ImageBlock } from "../../../api/types";
import { address } from "../../route/address";
import { navigate } from "../../route/history";
import { useDrafts } from "../../shared/use-drafts";
import type { Insert, Place } from "../context/history-context";

export interface HistoryActions {
  rewind(place: Place): Promise<void>;
  navigate(place: Place, summarize: boolean): Promise<void>;
  /** Sends the prompt at a place again; the branch with its previous results is kept. */
  resend(entryId: string): Promise<void>;
  fork(place: Place): Promise<void>;
  label(place: Place, label: string): Promise<void>;
  compact(): Promise<void>;
}

interface Prompted {
  text?: string;
  content?: Block[];
}

/** Returns the prompt in a host's answer, with its images; null if there is none. */
function promptOf({ text = "", content = [] }: Prompted): { text: string; images: ImageBlock[] } | null {
  const images = content.filter((block) => block.type === "image");
  return text || images.length > 0 ? { text, images } : null;
}

/** The requests of a page about the history of a session. `insert` is called with a prompt to edit. */
export function useHistoryActions(host: Host, view: SessionView, insert: (prompt: Insert) => void): HistoryActions {
  const drafts = useDrafts();
  return useMemo(() => {
    const { sessionId } = view;
    const head = () => ({ sessionId, clientKey: crypto.randomUUID() });
    const expectedLeaf = () => view.state.get().entries.at(-1)?.id ?? "";
    const moved = (came: Prompted) => {
      const prompt = promptOf(came);
      if (prompt) {
        insert(prompt);
      }
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
      resend: async (targetEntryId) => {
        const fields = { ...head(), expectedLeaf: expectedLeaf(), targetEntryId };
        const prompt = promptOf(await host.request("rewind_session", fields));
        if (prompt) {
          await view.send(prompt.text, false, prompt.images);
        }
      },
      fork: async ({ entryId }) => {
        const { session, ...came } = await host.request("fork_session", { ...head(), entryId });
        const prompt = promptOf(came);
        if (prompt) {
          drafts.keep(`${host.deviceId}/${session.id}`, prompt.text, prompt.images);
        }
        navigate(address.session(host.deviceId, session.id));
      },
      label: async ({ entryId }, label) => {
        await host.request("set_label", { ...head(), entryId, label });
      },
      compact: async () => {
        await host.request("compact_session", head());
      },
    };
  }, [host, view, drafts, insert]);
}
