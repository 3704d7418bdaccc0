// The running diagnoses, each on its own connection, because the link's own state may be what is wrong.
import type { LinkDiagnosis } from "../api/diagnosis";
import { t } from "../i18n/link";
import type { DoctorRound, RoundOptions } from "./doctor-round";
import { allPins } from "./pins";

/** The options of a diagnosis, except the pins and the callback. */
export type Patient = Omit<RoundOptions, "pins" | "tell">;

export class Doctors {
  /** null while the code is being loaded, which most people never need. */
  readonly #running = new Map<number, DoctorRound | null>();
  readonly #db: IDBDatabase;

  constructor(db: IDBDatabase) {
    this.#db = db;
  }

  /** Checks all paths; resolves when the diagnosis is complete or canceled. */
  async run(id: number, patient: Patient, tell: (state: LinkDiagnosis) => void): Promise<void> {
    this.#running.set(id, null);
    let loaded = false;
    try {
      const { DoctorRound } = await import("./doctor-round");
      loaded = true;
      const all = await allPins(this.#db);
      if (this.#running.has(id)) {
        const round = new DoctorRound({ ...patient, pins: all.filter((pin) => pin.state !== "pending"), tell });
        this.#running.set(id, round);
        await round.run();
      }
    } catch (err) {
      const detail = loaded ? (err instanceof Error ? err.message : String(err)) : t("link.service.notLoaded");
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
