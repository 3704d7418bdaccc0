// The worker's side of highlighting. Texts of many pages are queued here, never in the page that shows them.
import type { Engine, Run, Token } from "./engine";

/** A page's request, each with its own number. */
export type HighlightRequest =
  | { id: number; kind: "text"; code: string; language: string }
  | { id: number; kind: "runs"; runs: readonly Run[]; language: string; after: number | undefined }
  | { id: number; kind: "stop" };

export type HighlightAnswer =
  | { id: number; kind: "text"; lines: Token[][] | null }
  | { id: number; kind: "runs"; from: number; lines: readonly Token[][][] }
  /** `end` identifies the state after the last run; 0 if unknown. */
  | { id: number; kind: "end"; end: number }
  | { id: number; kind: "failed" };

export interface HighlightPort {
  postMessage(message: HighlightRequest | HighlightAnswer): void;
  onmessage: ((event: MessageEvent) => void) | null;
  /** Ends the worker, where only this page uses it. */
  terminate?(): void;
}

/** How many states are kept for a page. After a forgotten one the grammar starts over, and colors may differ. */
const maxEnds = 200;

/** Answers the requests of one page. */
export function serveHighlighting(port: HighlightPort, engine: Engine): void {
  const ends = new Map<number, unknown>();
  const running = new Map<number, AbortController>();
  const keep = (id: number, end: unknown): number => {
    if (end === undefined) {
      return 0;
    }
    ends.set(id, end);
    for (const [oldest] of ends) {
      if (ends.size <= maxEnds) {
        break;
      }
      ends.delete(oldest);
    }
    return id;
  };
  const answer = async (request: HighlightRequest): Promise<HighlightAnswer | null> => {
    const { id } = request;
    switch (request.kind) {
      case "stop":
        running.get(id)?.abort();
        return null;
      case "text":
        return { id, kind: "text", lines: await engine.tokenize(request.code, request.language) };
      case "runs": {
        const stop = new AbortController();
        running.set(id, stop);
        const coloring = {
          after: ends.get(request.after ?? 0),
          signal: stop.signal,
          onRuns: (from: number, lines: readonly Token[][][]) => port.postMessage({ id, kind: "runs", from, lines }),
        };
        const colored = engine.colorRuns(request.runs, request.language, coloring);
        return { id, kind: "end", end: keep(id, await colored.finally(() => running.delete(id))) };
      }
    }
  };
  port.onmessage = ({ data }: MessageEvent<HighlightRequest>) => {
    answer(data)
      .catch((): HighlightAnswer => ({ id: data.id, kind: "failed" }))
      .then((told) => told && port.postMessage(told));
  };
}
