// The diagnoses that run, each on a connection of its own: what the link believes may
// be what is wrong.
import type { LinkDiagnosis } from "../api/diagnosis";
import type { DoctorRound, RoundOptions } from "./doctor-round";
import { allPins } from "./pins";

/** Of a diagnosis, all but the pins and where it tells. */
export type Patient = Omit<RoundOptions, "pins" | "tell">;

export class Doctors {
  /** null while the code of one is loaded, which most people never need. */
  readonly #running = new Map<number, DoctorRound | null>();
  readonly #db: IDBDatabase;

  constructor(db: IDBDatabase) {
    this.#db = db;
  }

  /** Looks at every way; resolves when it has been seen or was canceled. */
  async run(id: number, patient: Patient, tell: (state: LinkDiagnosis) => void): Promise<void> {
    this.#running.set(id, null);
    try {
      const [{ DoctorRound }, all] = await Promise.all([import("./doctor-round"), allPins(this.#db)]);
      if (this.#running.has(id)) {
        const round = new DoctorRound({ ...patient, pins: all.filter((pin) => pin.state !== "pending"), tell });
        this.#running.set(id, round);
        await round.run();
      }
    } catch (err) {
      // After an update its code may be gone.
      const detail = err instanceof Error ? err.message : String(err);
      tell({ relay: [{ name: "relay", status: "failed", detail }], devices: [], others: [], done: true });
    } finally {
      this.#running.delete(id);
    }
  }

  cancel(id: number): void {
    this.#running.get(id)?.cancel();
    this.#running.delete(id);
  }

  stop(): void {
    for (const doctor of this.#running.values()) {
      doctor?.cancel();
    }
    this.#running.clear();
  }
}
