// The colors of a diff's lines. They come piece by piece, so that the page never stands
// still for them: a grammar takes up to a millisecond for a line.
import type { Token, Tokenizer } from "../code/highlight";
import type { Highlighting } from "../code/use-highlighted";
import type { DiffLine, Hunk } from "./model";

/** How many lines are colored before the page gets its turn, at most. */
const piece = 30;

/** For how long lines are colored before the page gets its turn, in milliseconds. */
const slice = 8;

/** Lines beyond these stay plain. */
const maxLines = 4000;

/** Longer lines stay plain. */
const maxLine = 400;

export class Colors {
  readonly #tokens = new Map<DiffLine, readonly Token[]>();
  readonly #listeners = new Set<() => void>();

  /**
   * Colors hunks from the first to the last, until it is told to stop. `after` is what it returned for lines that come
   * before the first hunk.
   */
  async color(
    hunks: readonly Hunk[],
    language: string,
    highlighting: Highlighting,
    signal: AbortSignal,
    after?: unknown,
  ): Promise<unknown> {
    const tokenizer = await highlighting.tokenizer(language);
    if (!tokenizer) {
      return undefined;
    }
    let end = after;
    let since = performance.now();
    let left = maxLines;
    for (const [h, { lines }] of hunks.entries()) {
      let state = h === 0 ? after : undefined;
      for (const run of runsOf(lines)) {
        if (performance.now() - since > slice) {
          this.#tell();
          await new Promise((resolve) => setTimeout(resolve));
          since = performance.now();
        }
        left -= run.length;
        if (signal.aborted || left < 0) {
          this.#tell();
          return undefined;
        }
        end = this.#run(run, tokenizer, state);
        // What goes is no part of the new version, in whose course the others are read.
        state = run[0]?.kind === "removed" ? state : end;
      }
    }
    this.#tell();
    return end;
  }

  #run(run: readonly DiffLine[], tokenizer: Tokenizer, state: unknown): unknown {
    const code = run.map(({ text }) => (text.length > maxLine ? "" : text)).join("\n");
    const { lines, end } = tokenizer(code, state);
    run.forEach((line, i) => {
      const tokens = lines[i];
      if (tokens && line.text.length <= maxLine) {
        this.#tokens.set(line, tokens);
      }
    });
    return end;
  }

  of(line: DiffLine): readonly Token[] | undefined {
    return this.#tokens.get(line);
  }

  /** How many of the lines have colors. */
  count(lines: readonly DiffLine[]): number {
    return lines.reduce((sum, line) => sum + (this.#tokens.has(line) ? 1 : 0), 0);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #tell(): void {
    for (const listener of this.#listeners) {
      listener();
    }
  }
}

/** Lines that belong to the same version, in pieces. */
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
