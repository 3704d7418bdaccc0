// A part in the middle of a session's log: what stands around an entry that was
// looked for. It is fetched without all that lies between it and the end, and joins
// the end when it has grown to it. The end is the projection's; events are about it.
import { ApiError, type Host, type PlaceState, type Sought } from "./contract";
import type { Projection } from "./projection";
import { ApiKind, type GetEntriesResponse, type Requests, type SessionEntry } from "./types";

interface Part {
  entries: SessionEntry[];
  /** The last of them on the path to the session's leaf. */
  tip: string;
  before: number;
  after: number;
}

export interface PlaceOptions {
  sessionId: string;
  host: Pick<Host, "request">;
  /** The end of the log, as it is now. */
  end(): Projection;
  /** The entries reach the end: they are put before it. */
  join(entries: SessionEntry[], before: number): void;
  changed(): void;
  /** How long to wait before asking again, in milliseconds. */
  retry: number;
}

export class Place {
  readonly #options: PlaceOptions;
  #part: Part | null = null;
  #busy: "earlier" | "later" | "seek" | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Counts what makes an answer under way worthless. */
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

  /** Brings what stands around an entry here, unless it is here already. */
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
      // The end grew to the front meanwhile: the answer may hold what is here by now.
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
      // It touches the end. A host that knows no places gives what lies before the end, too.
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
          return; // the end grew to the front meanwhile; it is asked again
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

  /** Back to the end. */
  leave(): void {
    this.#turn++;
    this.#busy = null;
    clearTimeout(this.#timer);
    if (this.#part) {
      this.#part = null;
      this.#options.changed();
    }
  }

  /** The way to the host is gone: what was asked gets no answer. */
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
        // Asked again by whoever still looks, but not at once.
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
