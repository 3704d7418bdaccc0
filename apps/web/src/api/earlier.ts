// Fetches the entries before the loaded ones, one page at a time.
import type { Host } from "./contract";
import type { GetEntriesResponse } from "./types";

export interface EarlierOptions {
  host: Pick<Host, "request">;
  sessionId: string;
  /** Called with each page. */
  join: (page: GetEntriesResponse) => void;
  /** Called when `busy` changes. */
  changed: () => void;
  /** The delay after a failed request, in milliseconds. */
  retry: number;
}

export class Earlier {
  readonly #options: EarlierOptions;
  #busy = false;
  /** Counts interruptions; an answer to a request from before one is discarded. */
  #round = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: EarlierOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busy;
  }

  /** Requests the entries before a cursor of the log, unless a request is pending. */
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
        // The view asks again while it is shown, but not at once.
        this.#timer = setTimeout(() => {
          if (round === this.#round) {
            this.#busy = false;
            changed();
          }
        }, retry);
      },
    );
  }

  /** Discards the pending request: its answer no longer fits the loaded entries. */
  interrupt(): void {
    this.#round++;
    this.#busy = false;
    clearTimeout(this.#timer);
  }
}
