import { useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { ApiKind, type Terminal } from "../../api/types";
import { isRefusal } from "../shared/errors";
import { useAct } from "../shared/use-act";
import { useTerminalList } from "./use-terminal-list";

export interface TerminalsOptions {
  host: Host;
  /** This browser's terminals when the page opens. */
  first: Terminal[];
  /** The project whose folder new terminals start in. */
  project: string | undefined;
  /** The session whose worktree new terminals start in instead. */
  session: string | undefined;
}

/** The terminals of this browser, and which of them is shown. The first one of a folder is opened by itself. */
export function useTerminals({ host, first, project, session }: TerminalsOptions) {
  const fits = (each: Terminal) =>
    (each.projectId ?? undefined) === project && (each.sessionId ?? undefined) === session && !each.ended;
  const [shown, setShown] = useState<string | null>((first.find(fits) ?? first[0])?.id ?? null);
  const [list, setList] = useTerminalList(host, first, shown);
  const { busy, error, act } = useAct();
  const open = (onOpened: () => void = () => {}) =>
    act("open", async () => {
      const { terminal } = await host.request("open_terminal", {
        clientKey: crypto.randomUUID(),
        cols: 80,
        rows: 24,
        ...(project ? { projectId: project } : {}),
        ...(session ? { sessionId: session } : {}),
      });
      setList((before) => [...before.filter((each) => each.id !== terminal.id), terminal]);
      onOpened();
      setShown(terminal.id);
    });
  useBegin(list.some(fits), open);
  const close = async ({ id }: Terminal) => {
    await host.request("close_terminal", { terminalId: id }).catch((error) => {
      if (!isRefusal(error) || error.kind !== ApiKind.not_found) {
        throw error; // a terminal that no longer exists is closed
      }
    });
    const at = list.findIndex((each) => each.id === id);
    const rest = list.filter((each) => each.id !== id);
    setList(rest);
    setShown((before) => (before === id ? ((rest[at] ?? rest.at(-1))?.id ?? null) : before));
  };
  return { list, shown, show: setShown, open, close, opening: busy !== null, error };
}

/** Opens a terminal once, if the page begins without one. */
function useBegin(begun: boolean, open: () => void): void {
  const started = useRef(false);
  const begin = useRef(open);
  useEffect(() => {
    if (!started.current && !begun) {
      begin.current();
    }
    started.current = true;
  }, [begun]);
}
