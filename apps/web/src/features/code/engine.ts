/** A piece of a line. */
export interface Token {
  text: string;
  /** Undefined for plain text. */
  className: string | undefined;
}

/** Whole lines of one version of a text. */
export interface Run {
  code: string;
  /** It follows on nothing; others go on where the one before them ended. */
  restarts: boolean;
  /** It is no part of the text in whose course the others are read: nothing goes on where it ends. */
  aside: boolean;
}

export interface Coloring {
  /** What was returned for the lines before the first run. */
  after?: unknown;
  signal: AbortSignal;
  /** Takes the colored lines of some runs, from the index of the first of them. */
  onRuns(from: number, lines: readonly Token[][][]): void;
}

/** Colors code. */
export interface Engine {
  /** The colored lines of a text; null when the language is not known. */
  tokenize(code: string, language: string): Promise<Token[][] | null>;
  /** Colors runs in their order. It returns the end of the last one, or undefined if the language is not known. */
  colorRuns(runs: readonly Run[], language: string, coloring: Coloring): Promise<unknown>;
}
