// Fetches what lies before the entries that are here, one page at a time.
import type { Host } from "./contract";
import type { GetEntriesResponse } from "./types";

export interface EarlierOptions {
  host: Pick<Host, "request">;
  sessionId: string;
  /** A page has come. */
  join: (page: GetEntriesResponse) => void;
  /** `busy` has changed. */
  changed: () => void;
  /** How long to wait after a refusal, in milliseconds. */
  retry: number;
}

export class Earlier {
  readonly #options: EarlierOptions;
  #busy = false;
  /** Counts interruptions; an answer from before one is dropped. */
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EarlierOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** Asks for the entries before a place in the log, unless it asks already. */
  load(before: number): void {
    if (this.#busy) {
      return;
    }
    const { host, sessionId, join, changed, retry } = this.#options;
    const round = this.#round;
    this.#busy = true;
    changed();
    host.request("get_entries", { sessionId, before }).then(
      (page) => {
        if (round === this.#round) {
          this.#busy = false;
          join(page);
        }
      },
      () => {
        // Asked again by whoever still looks, but not at once.
        this.#timer = setTimeout(() => {
          if (round === this.#round) {
            this.#busy = false;
            changed();
          }
        }, retry);
      },
    );
  }

  /** What was asked for no longer fits what is here. */
  interrupt(): void {
    this.#round++;
    this.#busy = false;
    clearTimeout(this.#timer);
  }
}
