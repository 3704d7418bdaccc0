import type { Backend } from "../../api/types";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/backends";
import { Denial } from "./Denial";

export interface DeniedBackendsProps {
  backends: Backend[];
  onClose: () => void;
}

/** Says of each program why this browser may not use it. */
export default function DeniedBackends({ backends, onClose }: DeniedBackendsProps) {
  return (
    <Sheet title={t("backends.deniedBackends.title")} onClose={onClose}>
      <ul className="flex flex-col gap-4">
        {backends.map((backend) => (
          <li key={backend.name}>
            <h3 className="font-medium text-sm">{backend.title}</h3>
            <Denial backend={backend} />
          </li>
        ))}
      </ul>
    </Sheet>
  );
}
