// The colors of a diff's lines. They arrive in pieces, so that the first are visible before the last are known.
import type { Token } from "../code/engine";
import type { Highlighting } from "../code/use-highlighted";
import type { DiffLine, Hunk } from "./model";
import { inTurn } from "./turns";

/** The maximum number of lines that are highlighted together. */
const piece = 30;

/** Further lines stay plain. */
const maxLines = 4000;

/** Longer lines stay plain. */
const maxLine = 400;

export class Colors {
  readonly #tokens = new Map<DiffLine, readonly Token[]>();
  /** The lines of each listener, and the function that cancels its pending notification. */
  readonly #listeners = new Map<() => void, { lines: readonly DiffLine[]; cancel: () => void }>();

  /** Highlights hunks in order until aborted. `after` is the value returned for the lines before the first hunk. */
  color(
    hunks: readonly Hunk[],
    language: string,
    highlighting: Pick<Highlighting, "color">,
    signal: AbortSignal,
    after?: unknown,
  ): Promise<unknown> {
    const runs = runsIn(hunks);
    return highlighting.color(
      runs.map(({ lines, restarts }) => ({
        code: lines.map(({ text }) => (text.length > maxLine ? "" : text)).join("\n"),
        restarts,
        // Removed lines are not part of the new version, which the other lines form.
        aside: lines[0]?.kind === "removed",
      })),
      language,
      {
        after,
        signal,
        onRuns: (from, colored) => {
          const fresh = new Set<DiffLine>();
          for (const [i, lines] of colored.entries()) {
            this.#take(runs[from + i]?.lines ?? [], lines, fresh);
          }
          this.#notify(fresh);
        },
      },
    );
  }

  #take(run: readonly DiffLine[], lines: readonly Token[][], fresh: Set<DiffLine>): void {
    for (const [i, line] of run.entries()) {
      const tokens = lines[i];
      if (tokens && line.text.length <= maxLine) {
        this.#tokens.set(line, tokens);
        fresh.add(line);
      }
    }
  }

  of(line: DiffLine): readonly Token[] | undefined {
    return this.#tokens.get(line);
  }

  /** Returns how many of the lines are highlighted. */
  count(lines: readonly DiffLine[]): number {
    return lines.reduce((sum, line) => sum + (this.#tokens.has(line) ? 1 : 0), 0);
  }

  /** Notifies the listener when one of the lines has been highlighted. */
  subscribe(lines: readonly DiffLine[], listener: () => void): () => void {
    this.#listeners.set(listener, { lines, cancel: () => {} });
    return () => {
      this.#listeners.get(listener)?.cancel();
      this.#listeners.delete(listener);
    };
  }

  /** Notifies the listeners of the lines, each in its own task: rendering all of them at once takes too long. */
  #notify(fresh: ReadonlySet<DiffLine>): void {
    for (const [listener, shown] of this.#listeners) {
      if (shown.lines.some((line) => fresh.has(line))) {
        shown.cancel = inTurn(listener);
      }
    }
  }
}

/** Returns the lines to highlight, in pieces. */
function runsIn(hunks: readonly Hunk[]): { lines: readonly DiffLine[]; restarts: boolean }[] {
  const runs: { lines: readonly DiffLine[]; restarts: boolean }[] = [];
  let left = maxLines;
  for (const [h, { lines }] of hunks.entries()) {
    let fresh = h > 0;
    for (const run of runsOf(lines)) {
      left -= run.length;
      if (left < 0) {
        return runs;
      }
      runs.push({ lines: run, restarts: fresh });
      fresh &&= run[0]?.kind === "removed";
    }
  }
  return runs;
}

/** Yields the lines of the same version, in pieces. */
function* runsOf(lines: readonly DiffLine[]): Generator<DiffLine[]> {
  let run: DiffLine[] = [];
  for (const line of lines) {
    if (line.kind === "note") {
      continue;
    }
    const goes = line.kind === "removed";
    if (run.length >= piece || (run[0] && (run[0].kind === "removed") !== goes)) {
      yield run;
      run = [];
    }
    run.push(line);
  }
  if (run.length > 0) {
    yield run;
  }
}
