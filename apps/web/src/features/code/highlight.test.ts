// @vitest-environment node
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Engine, Run, Token } from "./engine";
import { colorRuns, tokenize } from "./highlight";
import { remoteEngine, restartingEngine } from "./remote";
import { type HighlightPort, serveHighlighting } from "./serve";
import { createHighlighting } from "./use-highlighted";

describe("tokenize", () => {
  it("names tokens by class and loses no text", async () => {
    const code = 'package main\n\nfunc main() { println("<b>") }';
    const lines = await tokenize(code, "golang");
    expect(lines?.map((line) => line.map((token) => token.text).join("")).join("\n")).toBe(code);
    const classes = new Set(lines?.flat().map((token) => token.className));
    expect(classes).toContain("tok-keyword");
    for (const name of classes) {
      expect(name ?? "tok-").toMatch(/^tok-[a-z-]*$/);
    }
  });

  it.each(["", "klingon", "constructor", "__proto__"])("does not highlight the language %j", async (language) => {
    expect(await tokenize("x", language)).toBeNull();
  });
});

describe("colorRuns", () => {
  const classesOf = async (runs: Run[], after?: unknown) => {
    const lines: Token[][][] = [];
    const end = await colorRuns(runs, "go", {
      after,
      signal: new AbortController().signal,
      onRuns: (from, found) => {
        expect(from).toBe(lines.length);
        lines.push(...found);
      },
    });
    return { end, first: lines.map((run) => run[0]?.[0]?.className) };
  };
  const run = (code: string, more: Partial<Run> = {}): Run => ({ code, restarts: false, aside: false, ...more });

  it("continues where another run ended, except after one aside", async () => {
    const begun = [run("/* a comment"), run("x", { aside: true }), run("that ends */ x")];
    expect((await classesOf(begun)).first).toEqual(["tok-comment", "tok-comment", "tok-comment"]);
    const aside = [run("/* a comment", { aside: true }), run("package x")];
    expect((await classesOf(aside)).first).toEqual(["tok-comment", "tok-keyword"]);
    const restarted = [run("/* a comment"), run("package x", { restarts: true })];
    expect((await classesOf(restarted)).first).toEqual(["tok-comment", "tok-keyword"]);
  });

  it("continues later", async () => {
    const { end } = await classesOf([run("/* a comment")]);
    expect((await classesOf([run("package */")], end)).first).toEqual(["tok-comment"]);
  });
});

describe("createHighlighting", () => {
  it("starts the engine for the first code, and caches its results", async () => {
    const connect = vi.fn(() => ({ tokenize, colorRuns }));
    const highlighting = createHighlighting(connect);
    expect(await highlighting.highlight("x", "")).toBeNull();
    expect(await highlighting.highlight("x".repeat(100_000), "go")).toBeNull();
    expect(connect).not.toHaveBeenCalled();
    const lines = await highlighting.highlight("{}", "json");
    expect(highlighting.known("{}", "json")).toBe(lines);
    expect(highlighting.known("{}", "go")).toBeNull();
  });
});

describe("an engine in a worker", () => {
  it("answers like a local engine, and several requests at once", async () => {
    const { engine } = connected({ tokenize, colorRuns });
    const code = "package main";
    const [text, unknown] = await Promise.all([engine.tokenize(code, "go"), engine.tokenize("x", "klingon")]);
    expect(text).toEqual(await tokenize(code, "go"));
    expect(unknown).toBeNull();
    const colored: unknown[] = [];
    const coloring = {
      signal: new AbortController().signal,
      // On a busy machine, the rest of a result is told apart, even if it is empty.
      onRuns: (from: number, lines: readonly unknown[]) => lines.length > 0 && colored.push([from, lines]),
    };
    const run = (said: string) => [{ code: said, restarts: false, aside: false }];
    const after = await engine.colorRuns(run("/* a comment"), "go", coloring);
    await engine.colorRuns(run("package */"), "go", { ...coloring, after });
    expect(colored[1]).toEqual([0, [[[{ text: "package */", className: "tok-comment" }]]]]);
    expect(await engine.colorRuns(run("x"), "klingon", coloring)).toBeUndefined();
  });

  it("stops requests that were aborted", async () => {
    const { engine } = connected({
      tokenize: () => Promise.reject(new Error("no grammar")),
      colorRuns: (_, __, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined))),
    });
    await expect(engine.tokenize("x", "go")).rejects.toThrow("failed");
    const gone = new AbortController();
    const asked = engine.colorRuns([], "go", { signal: gone.signal, onRuns: () => {} });
    gone.abort();
    expect(await asked).toBeUndefined();
  });
});

describe("an engine whose worker ends", () => {
  const silent: Engine = { tokenize: () => new Promise(() => {}), colorRuns: () => new Promise(() => {}) };

  it("is started again, and answers what was pending", async () => {
    const lost: (() => void)[] = [];
    const engine = restartingEngine((n, end) => {
      lost.push(end);
      return portOf(n === 1 ? silent : { tokenize, colorRuns });
    });
    const pending = [engine?.tokenize("package main", "go"), engine?.tokenize("{}", "json")];
    lost[0]?.();
    expect(await pending[0]).toEqual(await tokenize("package main", "go"));
    expect(await pending[1]).toEqual(await tokenize("{}", "json"));
    expect(lost).toHaveLength(2);
    lost[0]?.(); // a late event of the first worker
    expect(await engine?.tokenize("{}", "json")).not.toBeNull();
    expect(lost).toHaveLength(2);
  });

  it("is started again when it does not answer", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let workers = 0;
    const engine = restartingEngine((n) => {
      workers = n;
      return portOf(n === 1 ? silent : { tokenize: async () => [], colorRuns });
    });
    const pending = engine?.tokenize("x", "go");
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await pending).toEqual([]);
    await vi.advanceTimersByTimeAsync(60_000); // nothing is pending
    expect(workers).toBe(2);
  });

  it("gives up on code that ends each worker, and no state of one is taken for that of another", async () => {
    const afters: unknown[] = [];
    const engine = restartingEngine((n, end) =>
      portOf({
        tokenize: () => new Promise(() => end()),
        colorRuns: async (_runs, _language, { after }) => {
          afters.push(after);
          return `state of ${n}`;
        },
      }),
    );
    const coloring = { signal: new AbortController().signal, onRuns: () => {} };
    const after = await engine?.colorRuns([], "go", coloring);
    await engine?.colorRuns([], "go", { ...coloring, after });
    await expect(engine?.tokenize("x", "go")).rejects.toThrow("lost");
    await engine?.colorRuns([], "go", coloring);
    await engine?.colorRuns([], "go", { ...coloring, after });
    expect(afters).toEqual([undefined, "state of 1", undefined, undefined]);
  });

  it("there is none without workers", () => {
    expect(restartingEngine(() => null)).toBeNull();
  });
});

/** Returns the page's end of a port to an engine. Messages are copied, as between threads. */
function portOf(engine: Engine): HighlightPort {
  const page: HighlightPort = { onmessage: null, postMessage: (data) => hand(worker, data) };
  const worker: HighlightPort = { onmessage: null, postMessage: (data) => hand(page, data) };
  const hand = (to: HighlightPort, data: unknown) => {
    const copy = structuredClone(data);
    queueMicrotask(() => to.onmessage?.({ data: copy } as MessageEvent));
  };
  serveHighlighting(worker, engine);
  return page;
}

function connected(engine: Engine) {
  let last = 0;
  return remoteEngine(portOf(engine), { nextId: () => ++last, onSilent: () => {} });
}
