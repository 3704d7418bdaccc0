// A pairing and a diagnosis with states set by a test.
import type { Diagnosis, Pairing, PairingState } from "../../api/contract";
import type { DiagnosisState } from "../../api/diagnosis";
import { Store } from "../../api/store";

export class FakePairing implements Pairing {
  readonly state: Store<PairingState>;
  canceled = false;

  constructor(readonly code: string | null) {
    this.state = new Store<PairingState>({ step: "requesting" });
  }

  cancel(): void {
    this.canceled = true;
  }
}

export class FakeDiagnosis implements Diagnosis {
  readonly state: Store<DiagnosisState>;
  canceled = false;

  constructor(state: DiagnosisState) {
    this.state = new Store(state);
  }

  cancel(): void {
    this.canceled = true;
  }
}
