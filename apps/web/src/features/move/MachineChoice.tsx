import type { Device } from "../../api/contract";
import { t } from "../../i18n/move";
import { useHost, useHostQuery } from "../shared/host-queries";
import { useReadable } from "../shared/scorel-context";

export interface MachineChoiceProps {
  device: Device;
  chosen: boolean;
  onChoose: () => void;
}

/** One machine that could receive a session, or why it cannot. */
export function MachineChoice({ device, chosen, onChoose }: MachineChoiceProps) {
  const why = useWhyNot(device);
  return (
    <label
      className={`touchable flex items-center gap-3 rounded-md border px-3 py-2 ${
        chosen ? "border-accent" : "border-line"
      } ${why ? "cursor-not-allowed" : "cursor-pointer hover:border-line-strong"}`}
    >
      <input
        type="radio"
        name="move-to"
        data-testid="move-machine"
        className="size-4 shrink-0 accent-accent"
        checked={chosen}
        disabled={why !== null}
        onChange={onChoose}
      />
      <span className="min-w-0">
        <span className={`block break-words ${why ? "text-muted" : "font-medium"}`}>{device.label}</span>
        {why ? <span className="block text-muted text-sm">{why}</span> : null}
      </span>
    </label>
  );
}

/** Returns why no session can be moved to a machine; null if one can. */
function useWhyNot({ id, revoked, problem }: Device): string | null {
  const host = useHost(id);
  const status = useReadable(host.status);
  const { data } = useHostQuery(host, "get_host", {});
  const grants = data?.host.grants ?? [];
  if (revoked || status === "revoked" || status === "expired") {
    return t("move.reason.revoked");
  }
  if (problem) {
    return problem;
  }
  if (status !== "open" || !data) {
    return status === "offline" ? t("move.reason.offline") : t("move.reason.connecting");
  }
  return grants.includes("manage") && grants.includes("prompt") ? null : t("move.reason.noManage");
}
