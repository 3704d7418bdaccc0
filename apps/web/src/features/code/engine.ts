/** A piece of a line. */
export interface Token {
  text: string;
  /** Undefined for plain text. */
  className: string | undefined;
}

/** Consecutive lines of one version of a text. */
export interface Run {
  code: string;
  /** Whether it starts a new text; other runs continue where the one before them ended. */
  restarts: boolean;
  /** Whether it is not part of the text that the other runs form, so that nothing continues after it. */
  aside: boolean;
}

export interface Coloring {
  /** The value returned for the lines before the first run. */
  after?: unknown;
  signal: AbortSignal;
  /** Called with the highlighted lines of some runs and the index of the first of them. */
  onRuns(from: number, lines: readonly Token[][][]): void;
}

/** Highlights code. */
export interface Engine {
  /** Returns the highlighted lines of a text; null for an unknown language. */
  tokenize(code: string, language: string): Promise<Token[][] | null>;
  /** Highlights runs in order. Returns the state after the last one, or undefined for an unknown language. */
  colorRuns(runs: readonly Run[], language: string, coloring: Coloring): Promise<unknown>;
}
