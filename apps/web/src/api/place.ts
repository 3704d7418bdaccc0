// A range in the middle of a session's log: the entries around one that was sought. It is fetched without the entries
// between it and the end, and joins the end when it has grown to it. The end is the projection's; events apply to it.
import { ApiError, type Host, type PlaceState, type Sought } from "./contract";
import type { Projection } from "./projection";
import { ApiKind, type GetEntriesResponse, type Requests, type SessionEntry } from "./types";

interface Part {
  entries: SessionEntry[];
  /** The last entry on the path to the session's leaf. */
  tip: string;
  before: number;
  after: number;
}

export interface PlaceOptions {
  sessionId: string;
  host: Pick<Host, "request">;
  /** Returns the current end of the log. */
  end(): Projection;
  /** Called when the entries reach the end and belong before it. */
  join(entries: SessionEntry[], before: number): void;
  changed(): void;
  /** The delay before a retry, in milliseconds. */
  retry: number;
}

export class Place {
  readonly #options: PlaceOptions;
  #part: Part | null = null;
  #busy: "earlier" | "later" | "seek" | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts the changes that invalidate pending answers. */
  #turn = 0;

  constructor(options: PlaceOptions) {
    this.#options = options;
  }

  get state(): PlaceState | null {
    const part = this.#part;
    if (!part) {
      return null;
    }
    return {
      entries: part.entries,
      tip: part.tip,
      earlier: part.before === 0 ? "none" : this.#busy === "earlier" ? "loading" : "some",
      later: this.#busy === "later" ? "loading" : "some",
    };
  }

  /** Loads an entry and the entries around it, unless they are loaded. */
  async seek(entryId: string): Promise<Sought> {
    const has = (entry: SessionEntry) => entry.id === entryId;
    const end = this.#options.end();
    if (this.#part?.entries.some(has) || end.entries.some(has)) {
      return "here";
    }
    if (end.before === 0) {
      return "missing";
    }
    const turn = this.#begin("seek");
    try {
      const answer = await this.#ask({ around: entryId, before: end.before });
      if (turn !== this.#turn) {
        return "failed";
      }
      this.#busy = null;
      // The end grew towards the front meanwhile: the answer may hold entries that are loaded by now.
      return this.#options.end().before === end.before ? this.#arrive(answer) : this.seek(entryId);
    } catch (cause) {
      if (turn === this.#turn) {
        this.#busy = null;
      }
      return cause instanceof ApiError && cause.kind === ApiKind.not_found ? "missing" : "failed";
    }
  }

  #arrive(answer: GetEntriesResponse): Sought {
    if (!answer.after) {
      // The range touches the end. A host that does not support ranges also answers with the entries before the end.
      this.#part = null;
      this.#options.join(answer.entries ?? [], answer.before ?? 0);
      return "here";
    }
    if (!answer.onPath) {
      return "elsewhere";
    }
    const { entries, pathId, before, after } = answer;
    this.#part = { entries: entries ?? [], tip: pathId ?? "", before: before ?? 0, after };
    this.#options.changed();
    return "here";
  }

  loadEarlier(): void {
    this.#load(
      "earlier",
      ({ before }) => (before === 0 ? null : { before }),
      ({ entries, before }, part) => {
        this.#part = { ...part, entries: [...(entries ?? []), ...part.entries], before: before ?? 0 };
      },
    );
  }

  loadLater(): void {
    const { before } = this.#options.end();
    this.#load(
      "later",
      ({ after }) => ({ after, before }),
      ({ entries, pathId, after }, part) => {
        if (this.#options.end().before !== before) {
          return; // the end grew towards the front meanwhile; the request is repeated
        }
        const more = [...part.entries, ...(entries ?? [])];
        if (!after) {
          this.#part = null;
          this.#options.join(more, part.before);
          return;
        }
        this.#part = { ...part, entries: more, tip: pathId || part.tip, after };
      },
    );
  }

  /** Returns to the end. */
  leave(): void {
    this.#turn++;
    this.#busy = null;
    clearTimeout(this.#timer);
    if (this.#part) {
      this.#part = null;
      this.#options.changed();
    }
  }

  /** Discards pending requests, which get no answer because the host cannot be reached. */
  interrupt(): void {
    this.#turn++;
    this.#busy = null;
    clearTimeout(this.#timer);
  }

  #begin(what: "earlier" | "later" | "seek"): number {
    this.#busy = what;
    return ++this.#turn;
  }

  #load(
    what: "earlier" | "later",
    fields: (part: Part) => Omit<Requests["get_entries"]["request"], "sessionId"> | null,
    take: (answer: GetEntriesResponse, part: Part) => void,
  ): void {
    const wanted = this.#part && fields(this.#part);
    if (!wanted || this.#busy) {
      return;
    }
    const turn = this.#begin(what);
    this.#options.changed();
    this.#ask(wanted).then(
      (answer) => {
        if (turn === this.#turn && this.#part) {
          this.#busy = null;
          take(answer, this.#part);
          this.#options.changed();
        }
      },
      () => {
        // The view asks again while it is shown, but not at once.
        this.#timer = setTimeout(() => {
          if (turn === this.#turn) {
            this.#busy = null;
            this.#options.changed();
          }
        }, this.#options.retry);
      },
    );
  }

  #ask(fields: Omit<Requests["get_entries"]["request"], "sessionId">): Promise<GetEntriesResponse> {
    const { host, sessionId } = this.#options;
    return host.request("get_entries", { sessionId, ...fields });
  }
}
