// The page's side of highlighting.
import type { Coloring, Engine, Run, Token } from "./engine";
import type { HighlightAnswer, HighlightPort, HighlightRequest } from "./serve";

interface Waiting {
  take(answer: HighlightAnswer): void;
  fail(cause: Error): void;
}

/** Returns an engine in a worker. `lost` rejects its pending requests. */
export function remoteEngine(port: HighlightPort): { engine: Engine; lost: () => void } {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  port.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => waiting.get(data.id)?.take(data);
  const ask = <T>(request: (id: number) => HighlightRequest, read: (answer: HighlightAnswer) => { value: T } | null) =>
    new Promise<T>((resolve, reject) => {
      const id = ++last;
      const fail = (cause: Error) => {
        waiting.delete(id);
        reject(cause);
      };
      waiting.set(id, {
        fail,
        take(answer) {
          const found = answer.kind === "failed" ? null : read(answer);
          if (found) {
            waiting.delete(id);
            resolve(found.value);
          } else if (answer.kind === "failed") {
            fail(new Error("highlighting failed"));
          }
        },
      });
      port.postMessage(request(id));
    });
  const engine: Engine = {
    tokenize: (code, language) =>
      ask<Token[][] | null>(
        (id) => ({ id, kind: "text", code, language }),
        (answer) => (answer.kind === "text" ? { value: answer.lines } : null),
      ),
    async colorRuns(runs: readonly Run[], language: string, { after, signal, onRuns }: Coloring) {
      const known = typeof after === "number" ? after : undefined;
      let stop = () => {};
      try {
        return await ask<unknown>(
          (id) => {
            stop = () => port.postMessage({ id, kind: "stop" });
            signal.addEventListener("abort", stop);
            return { id, kind: "runs", runs, language, after: known };
          },
          (answer) => {
            if (answer.kind === "runs" && !signal.aborted) {
              onRuns(answer.from, answer.lines);
            }
            return answer.kind === "end" ? { value: answer.end || undefined } : null;
          },
        );
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
  };
  const lost = () => {
    for (const each of [...waiting.values()]) {
      each.fail(new Error("the highlighter could not be loaded"));
    }
  };
  return { engine, lost };
}

/** The engine of this page, once used. */
let engine: Engine | null = null;

/**
 * Returns the engine of this page, in a worker that all tabs share where the browser supports it; null without workers.
 * After a failure to load, the next call tries again.
 */
export function connectEngine(): Engine | null {
  engine ??= startEngine();
  return engine;
}

function startEngine(): Engine | null {
  if (typeof SharedWorker === "function") {
    const worker = new SharedWorker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    const remote = remoteEngine(worker.port);
    worker.onerror = () => giveUp(remote.lost);
    return remote.engine;
  }
  if (typeof Worker === "function") {
    const worker = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    const remote = remoteEngine(worker);
    worker.onerror = () => giveUp(remote.lost);
    return remote.engine;
  }
  return null;
}

function giveUp(lost: () => void): void {
  engine = null;
  lost();
}
