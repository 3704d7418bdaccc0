import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { useToast } from "../../components/Toast";
import { t } from "../../i18n/move";
import { address } from "../route/address";
import { useOpen } from "../route/entry";
import { navigate } from "../route/history";
import { moved, noteHere, noteMoved } from "../shared/moved";
import { dropSession } from "../shared/sessions";
import { useDrafts } from "../shared/use-drafts";
import type { Machine } from "./use-machines";

/** Follows sessions to the machines that they move to, with their drafts, and with the page if one is open. */
export function useMovedSessions(machines: readonly Machine[] | null): void {
  const client = useQueryClient();
  const toast = useToast();
  const drafts = useDrafts();
  const open = useOpen();
  const latest = useRef({ machines, open });
  latest.current = { machines, open };
  const follow = useRef(async (from: string, sessionId: string, to: string) => {
    const there = latest.current.machines?.find(({ device }) => device.id === to);
    if (!there) {
      return; // the page shows that, and keeps the draft
    }
    await drafts.carry(`${from}/${sessionId}`, `${to}/${sessionId}`);
    const shown = latest.current.open;
    if (shown.deviceId === from && shown.sessionId === sessionId) {
      navigate(`${address.session(to, sessionId)}${location.search}`, { replace: true });
      toast(t("move.follow.nowOn", { label: there.device.label }));
      await drafts.carry(`${from}/${sessionId}`, `${to}/${sessionId}`); // text typed meanwhile
    }
  });
  const ids = machines?.map(({ device }) => device.id).join(" ") ?? "";

  // biome-ignore lint/correctness/useExhaustiveDependencies: the ids determine the hosts
  useEffect(() => {
    const stops = latest.current.machines?.map(({ host }) =>
      host.onEvent((event) => {
        if (event.type === "session_updated") {
          noteHere(host.deviceId, event.session.id); // it may have been moved back
        } else if (event.type === "session_moved") {
          dropSession(client, host.deviceId, event.id);
          noteMoved(host.deviceId, event.id, event.deviceId);
          void follow.current(host.deviceId, event.id, event.deviceId);
        }
      }),
    );
    // A newly paired machine may have sessions that were moved to it before.
    for (const [key, to] of Object.entries(moved.get())) {
      const [from = "", sessionId = ""] = key.split("/");
      void follow.current(from, sessionId, to);
    }
    return () => {
      for (const stop of stops ?? []) {
        stop();
      }
    };
  }, [client, ids]);
}
