import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useState } from "react";
import type { Host } from "../../../api/contract";
import type { DiffLine } from "../../diff/model";
import { countedLines, linesAfter } from "./file-lines";

/** How many parts are read at most to reach a line; further ones are loaded on request. */
const maxParts = 16;

interface Grown {
  /** The first part that they follow: another one means another file. */
  after: readonly DiffLine[];
  lines: readonly DiffLine[];
  next: number;
  parts: number;
}

/** Loads a file in parts: as many as the sought line needs, and more on request. */
export function useFile(host: Host, sessionId: string, path: string, sought: number) {
  const [grown, setGrown] = useState<Grown | null>(null);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const first = useQuery({
    queryKey: [host.deviceId, "read_file", sessionId, path],
    queryFn: () => host.request("read_file", { sessionId, path }),
    retry: false,
    gcTime: 0,
  });
  const start = useMemo(() => linesAfter([], first.data?.text ?? ""), [first.data]);
  const { lines, next, parts } =
    grown?.after === start ? grown : { lines: start, next: first.data?.next ?? 0, parts: 1 };
  const more = useCallback(async () => {
    setBusy(true);
    setFailed(null);
    try {
      const part = await host.request("read_file", { sessionId, path, from: next });
      setGrown({ after: start, lines: linesAfter(lines, part.text), next: part.next ?? 0, parts: parts + 1 });
    } catch (cause) {
      setFailed(cause);
    }
    setBusy(false);
  }, [host, sessionId, path, next, start, lines, parts]);
  // The last line may continue in the next part.
  const seeking = next > 0 && lines.length <= sought && parts < maxParts && !failed;
  useEffect(() => {
    if (seeking && !busy) {
      void more();
    }
  }, [seeking, busy, more]);
  const shown = useMemo(() => (next > 0 ? lines.slice(0, -1) : countedLines(lines)), [lines, next]);
  return { first, lines: shown, next, seeking, busy, failed, more };
}
