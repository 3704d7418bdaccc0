import type { Row } from "./rows";

/** The React keys of rows: the row of an answer keeps the key that it streamed under, and with it all its elements. */
export class RowNames {
  readonly #names = new Map<string, string>();
  #rows: readonly Row[] = [];
  #writes = false;
  #count = 0;

  /** Takes the rows, and whether an answer is streaming below them. Returns the key of that answer. */
  update(rows: readonly Row[], writes: boolean): string {
    const ended = this.#writes ? this.#appended(rows).find(({ kind }) => kind === "assistant") : undefined;
    if (ended) {
      this.#names.set(ended.key, this.#written);
      this.#count++;
    }
    this.#rows = rows;
    this.#writes = writes;
    return this.#written;
  }

  of(key: string): string {
    return this.#names.get(key) ?? key;
  }

  get #written(): string {
    return `written ${this.#count}`;
  }

  #appended(rows: readonly Row[]): readonly Row[] {
    const last = this.#rows.at(-1)?.key;
    const at = last === undefined ? -1 : rows.findLastIndex(({ key }) => key === last);
    return rows === this.#rows || (last !== undefined && at < 0) ? [] : rows.slice(at + 1);
  }
}
