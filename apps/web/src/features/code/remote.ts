// The page's side of highlighting.
import type { Coloring, Engine, Run, Token } from "./engine";
import type { HighlightAnswer, HighlightPort, HighlightRequest } from "./serve";

interface Waiting {
  take(answer: HighlightAnswer): void;
  fail(cause: Error): void;
}

/** Says that a worker ended, could not be loaded, or does not answer. */
export class LostError extends Error {
  constructor() {
    super("the highlighter was lost");
  }
}

export interface RemoteOptions {
  /** Returns the id of the next request. */
  nextId: () => number;
  /** Called when the worker has not answered for long. */
  onSilent: () => void;
}

/** How long a worker may say nothing while requests are pending, in milliseconds. It is busy with one of them at most. */
const SILENT = 20_000;

/** Returns an engine in a worker. `lost` rejects its pending requests. */
export function remoteEngine(port: HighlightPort, { nextId, onSilent }: RemoteOptions): Remote {
  const waiting = new Map<number, Waiting>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = () => {
    clearTimeout(timer);
    timer = waiting.size > 0 ? setTimeout(onSilent, SILENT) : undefined;
  };
  port.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => {
    waiting.get(data.id)?.take(data);
    watch();
  };
  const ask = <T>(request: (id: number) => HighlightRequest, read: (answer: HighlightAnswer) => { value: T } | null) =>
    new Promise<T>((resolve, reject) => {
      const id = nextId();
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
      if (!timer) {
        watch();
      }
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
    port.onmessage = null;
    port.terminate?.();
    clearTimeout(timer);
    for (const each of [...waiting.values()]) {
      each.fail(new LostError());
    }
  };
  return { engine, lost };
}

export interface Remote {
  engine: Engine;
  lost: () => void;
}

/** How often a request is tried: code that ends each worker stays plain. */
const TRIES = 3;

/** Starts a worker, the n-th of this page; null if the browser has none. It calls `lost` when the worker fails. */
export type StartWorker = (n: number, lost: () => void) => HighlightPort | null;

/** Returns an engine in a worker that is started again when it is lost; null if the browser has no workers. */
export function restartingEngine(start: StartWorker): Engine | null {
  let current: Remote | null = null;
  let workers = 0;
  let ids = 0; // not used twice: they also identify states, and a new worker does not have those of the last one
  const begin = (): Remote | null => {
    const end = () => {
      if (current === begun) {
        current = null;
      }
      begun?.lost();
    };
    const port = start(++workers, end);
    const begun = port && remoteEngine(port, { nextId: () => ++ids, onSilent: end });
    return begun;
  };
  const run = async <T>(work: (engine: Engine) => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries++) {
      current ??= begin();
      if (!current) {
        throw new LostError();
      }
      try {
        return await work(current.engine);
      } catch (err) {
        if (!(err instanceof LostError) || tries === TRIES) {
          throw err;
        }
      }
    }
  };
  current = begin();
  return (
    current && {
      tokenize: (code, language) => run((engine) => engine.tokenize(code, language)),
      colorRuns: (runs, language, coloring) => run((engine) => engine.colorRuns(runs, language, coloring)),
    }
  );
}

/** The engine of this page, once used. */
let engine: Engine | null = null;

/** Returns the engine of this page, in a worker that all tabs share where the browser supports it; null without workers. */
export function connectEngine(): Engine | null {
  engine ??= restartingEngine(startWorker);
  return engine;
}

function startWorker(n: number, lost: () => void): HighlightPort | null {
  // A shared worker of the same name would be the lost one again if that is only stuck.
  const name = `highlight ${n}`;
  if (typeof SharedWorker === "function") {
    const worker = new SharedWorker(new URL("./highlight-worker.ts", import.meta.url), { type: "module", name });
    worker.onerror = lost;
    return worker.port;
  }
  if (typeof Worker === "function") {
    const worker = new Worker(new URL("./highlight-worker.ts", import.meta.url), { type: "module" });
    worker.onerror = lost;
    return worker;
  }
  return null;
}
