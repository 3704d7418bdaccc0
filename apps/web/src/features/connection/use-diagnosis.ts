import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Diagnosis } from "../../api/contract";
import type { DiagnosisState } from "../../api/diagnosis";
import { PageDiagnosis } from "../../api/doctor";
import { useScorel } from "../shared/scorel-context";

const idle = { get: () => null, subscribe: () => () => {} };

/**
 * Runs a diagnosis while the component is mounted, and another one whenever `run` changes. Returns null until the first
 * has begun.
 */
export function useDiagnosis(run: number): DiagnosisState | null {
  const scorel = useScorel();
  const [diagnosis, setDiagnosis] = useState<Diagnosis | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new run is a new diagnosis
  useEffect(() => {
    const started = scorel.diagnose(PageDiagnosis);
    setDiagnosis(started);
    return () => started.cancel();
  }, [scorel, run]);
  const store = diagnosis?.state ?? idle;
  return useSyncExternalStore(
    useCallback((listener: () => void) => store.subscribe(listener), [store]),
    useCallback((): DiagnosisState | null => store.get(), [store]),
  );
}
