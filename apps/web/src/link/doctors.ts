// The diagnoses that run, each on a connection of its own: what the link believes may
// be what is wrong.
import type { LinkDiagnosis } from "../api/diagnosis";
import { LinkDoctor, type LinkDoctorOptions } from "./doctor";
import { loadPins } from "./pins";

/** Of a diagnosis, all but the pins and where it tells. */
export type Patient = Omit<LinkDoctorOptions, "pins" | "tell">;

export class Doctors {
  readonly #running = new Map<number, LinkDoctor>();
  readonly #db: IDBDatabase;

  constructor(db: IDBDatabase) {
    this.#db = db;
  }

  /** Looks at the whole way; resolves when it has been seen or was canceled. */
  async run(id: number, patient: Patient, tell: (state: LinkDiagnosis) => void): Promise<void> {
    const pins = (await loadPins(this.#db, patient.address.authority)).filter((pin) => pin.state !== "pending");
    const doctor = new LinkDoctor({ ...patient, pins, tell });
    this.#running.set(id, doctor);
    await doctor.run();
    this.#running.delete(id);
  }

  cancel(id: number): void {
    this.#running.get(id)?.cancel();
  }

  stop(): void {
    for (const doctor of this.#running.values()) {
      doctor.cancel();
    }
  }
}
