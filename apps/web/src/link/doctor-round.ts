// One diagnosis of all paths: one doctor for the chosen relay and one for each other relay of a device, all at the same
// time and each on its own connection.
import type { LinkDiagnosis, PathDiagnosis } from "../api/diagnosis";
import type { RelayAddress } from "../api/relay-url";
import { type Found, LinkDoctor, type LinkDoctorOptions } from "./doctor";
import type { Pin } from "./pins";

export interface RoundOptions extends Omit<LinkDoctorOptions, "address" | "pins" | "unclaimed" | "chosen" | "tell"> {
  /** The relays that this browser connects to, the chosen one first. */
  addresses: RelayAddress[];
  /** The addresses at which each device reports that it can be reached. */
  listed: Record<string, readonly { url: string }[]>;
  /** The pinned devices of all relays. */
  pins: Pin[];
  tell: (diagnosis: LinkDiagnosis) => void;
}

export class DoctorRound {
  readonly #tell: RoundOptions["tell"];
  readonly #doctors: LinkDoctor[];
  readonly #found: PathDiagnosis[];

  constructor({ addresses, listed, pins, tell, ...patient }: RoundOptions) {
    this.#tell = tell;
    this.#found = addresses.map(({ http }) => ({ relayUrl: http, relay: [], devices: [] }));
    this.#doctors = addresses.map((address, i) => {
      const known = pins.filter(({ authority }) => authority === address.authority);
      const unclaimed = i === 0 ? [] : unclaimedAt(address, known, pins, listed);
      return new LinkDoctor({
        ...{ ...patient, address, unclaimed, chosen: i === 0 },
        pins: known,
        tell: (found) => this.#take(i, found),
      });
    });
  }

  /** Runs to completion; `tell` is called with the whole state after every change. */
  async run(): Promise<void> {
    await Promise.all(this.#doctors.map((doctor) => doctor.run()));
    this.#report(true);
  }

  /** Cancels the run; `tell` is not called any more. */
  cancel(): void {
    for (const doctor of this.#doctors) {
      doctor.cancel();
    }
  }

  #take(i: number, found: Found): void {
    this.#found[i] = { ...(this.#found[i] as PathDiagnosis), ...found };
    this.#report(false);
  }

  #report(done: boolean): void {
    const [chosen, ...others] = this.#found;
    if (chosen && !this.#doctors.some((doctor) => doctor.canceled)) {
      this.#tell({ relay: chosen.relay, devices: chosen.devices, others, done });
    }
  }
}

/** Returns the devices that can be reached over a relay that does not know their pairing yet. */
function unclaimedAt(
  address: RelayAddress,
  known: readonly Pin[],
  pins: readonly Pin[],
  listed: RoundOptions["listed"],
): Pin[] {
  const missing = Object.keys(listed).filter(
    (id) => listed[id]?.some(({ url }) => url === address.http) && !known.some((pin) => pin.id === id),
  );
  return missing.flatMap((id) => pins.find((pin) => pin.id === id && pin.state === "bound") ?? []);
}
