// The rows of one branch of a session, kept in sync with its entries. Building all of them takes time proportional to
// the log; adding entries at either end does not.
import { pathTo } from "@scorel/protocol/tree";
import type { SessionEntry } from "../../../api/types";
import { addFacts, collectFacts, joinFacts, type ToolFacts } from "../calls/tool-facts";
import { buildRows, joinRows, type Row, rowOf, withFacts } from "./rows";

export class BranchRows {
  #entries: readonly SessionEntry[] = [];
  #tip: string | undefined;
  /** The parent of the first entry on the path; null if there is none. */
  #parent: string | null = null;
  #ids = new Set<string>();
  #facts = new Map<string, ToolFacts>();
  #called = new Set<string>();
  #rows: Row[] = [];

  /** Returns the rows of the branch that ends at `tip`, or at the last entry. Unchanged rows keep their identity. */
  update(entries: readonly SessionEntry[], tip?: string): Row[] {
    if (entries !== this.#entries || tip !== this.#tip) {
      const grown = tip === this.#tip && this.#entries.length > 0 && (this.#append(entries) || this.#prepend(entries));
      if (!grown) {
        this.#build(entries, tip);
      }
      this.#entries = entries;
      this.#tip = tip;
    }
    return this.#rows;
  }

  #build(entries: readonly SessionEntry[], tip: string | undefined): void {
    const path = pathTo(entries, tip);
    this.#ids = new Set(entries.map(({ id }) => id));
    this.#facts = collectFacts(path);
    this.#called = new Set();
    this.#rows = buildRows(path, this.#rows, this.#facts, this.#called);
    this.#parent = path[0]?.parentId ?? null;
  }

  /** Appends entries that continue the branch; returns false if they do not. */
  #append(entries: readonly SessionEntry[]): boolean {
    const before = this.#entries;
    const last = before.at(-1);
    if (this.#tip !== undefined || entries[0] !== before[0] || entries[before.length - 1] !== last) {
      return false;
    }
    const more = entries.slice(before.length);
    let parent = last?.id;
    for (const entry of more) {
      if (entry.parentId !== parent || this.#ids.has(entry.id)) {
        return false;
      }
      parent = entry.id;
      this.#ids.add(entry.id);
    }
    const changed = more.map((entry) => addFacts(this.#facts, entry));
    const rows = more.flatMap((entry) => rowOf(entry, this.#facts, this.#called) ?? []);
    this.#rows = joinRows(withFacts(this.#rows, this.#facts, changed), rows);
    return true;
  }

  /** Prepends entries; returns false if others changed too. */
  #prepend(entries: readonly SessionEntry[]): boolean {
    const before = this.#entries;
    const count = entries.length - before.length;
    if (count <= 0 || entries[count] !== before[0] || entries.at(-1) !== before.at(-1)) {
      return false;
    }
    const page = entries.slice(0, count);
    if (page.some(({ id }) => this.#ids.has(id))) {
      return false;
    }
    for (const { id } of page) {
      this.#ids.add(id);
    }
    const path = this.#parent === null ? [] : pathTo(page, this.#parent);
    const facts = collectFacts(path);
    for (const id of facts.keys()) {
      if (this.#called.has(id)) {
        return false;
      }
    }
    joinFacts(facts, this.#facts);
    const called = new Set<string>();
    const rows = buildRows(path, [], facts, called);
    // A result whose call has been loaded is now shown in the row of its call.
    const kept = this.#rows.filter((row) => row.kind !== "result" || !called.has(row.result.toolCallId));
    for (const id of this.#called) {
      called.add(id);
    }
    this.#rows = joinRows(rows, kept);
    this.#facts = facts;
    this.#called = called;
    this.#parent = path.length > 0 ? (path[0]?.parentId ?? null) : this.#parent;
    return true;
  }
}
