import { lazy, useState } from "react";
import type { Backend } from "../../api/types";
import { IconButton } from "../../components/Button";
import { QuestionIcon } from "../../components/icons";
import { Select } from "../../components/Select";
import { t } from "../../i18n/backends";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";

const DeniedBackends = lazy(chunk(() => import("./DeniedBackends")));

export interface BackendSelectProps {
  label: string;
  "data-testid": string;
  /** The name of scorel's own agent, the first choice. */
  own: string;
  backends: Backend[];
  /** The chosen program, even if it is not among them; "" is scorel's own agent. */
  value: string;
  onChange: (name: string) => void;
}

/** Chooses the program that works on prompts. Those that this browser may not use are disabled; a button says why. */
export function BackendSelect({ own, backends, value, onChange, ...rest }: BackendSelectProps) {
  const [why, setWhy] = useState(false);
  const denied = backends.filter((backend) => backend.denied);
  const known = value === "" || backends.some(({ name }) => name === value);
  return (
    <>
      <Select
        {...rest}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        options={[
          { value: "", label: own },
          ...(known ? [] : [{ value, label: value }]),
          ...backends.map(({ name, title, denied }) => ({
            value: name,
            label: denied ? t("backends.backendSelect.denied", { title }) : title,
            disabled: denied !== undefined,
          })),
        ]}
        className="max-w-full"
      />
      {denied.length > 0 ? (
        <IconButton label={t("backends.backendSelect.why")} data-testid="why-denied" onClick={() => setWhy(true)}>
          <QuestionIcon />
        </IconButton>
      ) : null}
      <LazyPart onClose={() => setWhy(false)}>
        {why ? <DeniedBackends backends={denied} onClose={() => setWhy(false)} /> : null}
      </LazyPart>
    </>
  );
}
