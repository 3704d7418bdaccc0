// The running pairings. Their code is loaded with the first one: most pages never need it.
import type { Frame } from "@scorel/protocol/wire";
import type { PairingState } from "../api/contract";
import { t } from "../i18n/link";
import type { PairingRun, PairLink } from "./pairing";

export class Pairings {
  /** null while the code is being loaded. */
  readonly #runs = new Map<number, PairingRun | null>();
  readonly #tell: (id: number, state: PairingState) => void;
  /** The current connection, if any. */
  #link: PairLink | null = null;

  constructor(tell: (id: number, state: PairingState) => void) {
    this.#tell = tell;
  }

  get any(): boolean {
    return this.#runs.size > 0;
  }

  /** Begins a pairing; `link` is the current connection, if any. */
  start(id: number, code: string | null, link: PairLink | null): void {
    this.#link = link;
    this.#runs.set(id, null);
    this.#tell(id, { step: "requesting" });
    import("./pairing").then(
      (loaded) => this.#begin(id, code, loaded.PairingRun),
      () => this.#end(id, t("link.service.notLoaded")),
    );
  }

  cancel(id: number): void {
    const run = this.#runs.get(id);
    if (run === null) {
      this.#end(id, t("link.pairings.canceled"));
    }
    run?.cancel();
  }

  online(link: PairLink): void {
    this.#link = link;
    for (const run of this.#begun) {
      run.online(link);
    }
  }

  offline(): void {
    this.#link = null;
    for (const run of this.#begun) {
      run.offline();
    }
  }

  take(frame: Frame): void {
    for (const run of this.#begun) {
      run.onFrame(frame);
    }
  }

  // A copy, because a run that ends removes itself.
  get #begun(): PairingRun[] {
    return [...this.#runs.values()].filter((run) => run !== null);
  }

  #begin(id: number, code: string | null, make: typeof PairingRun): void {
    if (!this.#runs.has(id)) {
      return;
    }
    const run = new make(code, (state) => {
      this.#tell(id, state);
      if (state.step === "done" || state.step === "failed") {
        this.#runs.delete(id);
      }
    });
    if (run.over) {
      return;
    }
    this.#runs.set(id, run);
    if (this.#link) {
      run.online(this.#link);
    }
  }

  #end(id: number, message: string): void {
    this.#runs.delete(id);
    this.#tell(id, { step: "failed", message });
  }
}
