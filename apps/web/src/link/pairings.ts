// The pairings that run.
import type { Frame } from "@scorel/protocol/wire";
import type { PairingState } from "../api/contract";
import { PairingRun, type PairLink } from "./pairing";

export class Pairings {
  readonly #runs = new Map<number, PairingRun>();
  readonly #tell: (id: number, state: PairingState) => void;

  constructor(tell: (id: number, state: PairingState) => void) {
    this.#tell = tell;
  }

  get any(): boolean {
    return this.#runs.size > 0;
  }

  /** Begins one; `link` is the connection that stands, if one does. */
  start(id: number, code: string | null, link: PairLink | null): void {
    const run = new PairingRun(code, (state) => {
      this.#tell(id, state);
      if (state.step === "done" || state.step === "failed") {
        this.#runs.delete(id);
      }
    });
    if (run.over) {
      return;
    }
    this.#runs.set(id, run);
    if (link) {
      run.online(link);
    }
  }

  cancel(id: number): void {
    this.#runs.get(id)?.cancel();
  }

  // Copies: a run that ends takes itself out.
  online(link: PairLink): void {
    for (const run of [...this.#runs.values()]) {
      run.online(link);
    }
  }

  offline(): void {
    for (const run of [...this.#runs.values()]) {
      run.offline();
    }
  }

  take(frame: Frame): void {
    for (const run of [...this.#runs.values()]) {
      run.onFrame(frame);
    }
  }
}
