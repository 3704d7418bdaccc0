import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Host } from "../../api/contract";
import type { HostInfo, Provider } from "../../api/types";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/machine";
import { rich } from "../../i18n/rich";
import BudgetList from "../budgets/BudgetList";
import ChannelList from "../channels/ChannelList";
import ExtensionList from "../extensions/ExtensionList";
import HookList from "../hooks/HookList";
import { MemoryList } from "../memory/MemoryList";
import { ServerList } from "../project/ServerList";
import { SkillList } from "../project/SkillList";
import PushSection from "../push/PushSection";
import ScheduleList from "../schedules/ScheduleList";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { isLimited, mayManageAll } from "../shared/grants";
import { hostKey } from "../shared/host-keys";
import { BackendList } from "./BackendList";
import { ProviderList } from "./ProviderList";
import { RelayState } from "./RelayState";

export interface MachineSheetProps {
  host: Host;
  /** The name of the machine. */
  machine: string;
  /** null until the host has reported it. */
  info: HostInfo | null;
  onClose: () => void;
}

/** What runs in every project. */
function Programs({ host, info }: { host: Host; info: HostInfo | null }) {
  const parts = [ServerList, ExtensionList, HookList];
  return parts.map((Part, i) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts never move
    <div key={i} className="border-line border-t pt-4 empty:hidden">
      <Part host={host} info={info} />
    </div>
  ));
}

/** The settings of a whole machine: its providers and keys, the settings of all projects, its relay and its name. */
export function MachineSheet({ host, machine, info, onClose }: MachineSheetProps) {
  const queries = useQueryClient();
  const [removing, setRemoving] = useState<Provider | null>(null);
  return (
    <Sheet title={t("machine.machineSheet.title", { machine })} onClose={onClose}>
      <div data-testid="machine-sheet" className="space-y-6">
        {isLimited(info) ? <p className="text-muted text-sm">{t("machine.machineSheet.limited")}</p> : null}
        <ProviderList host={host} machine={machine} info={info} onRemove={setRemoving} />
        <div className="border-line border-t pt-4 empty:hidden">
          <BackendList host={host} machine={machine} mayManage={mayManageAll(info)} />
        </div>
        <div className="border-line border-t pt-4 empty:hidden">
          <ScheduleList host={host} info={info} />
        </div>
        <div className="border-line border-t pt-4 empty:hidden">
          <BudgetList host={host} info={info} />
        </div>
        {mayManageAll(info) ? <Programs host={host} info={info} /> : null}
        <div className="border-line border-t pt-4 empty:hidden">
          <SkillList host={host} mayManage={mayManageAll(info)} />
        </div>
        <div className="border-line border-t pt-4 empty:hidden">
          <MemoryList host={host} mayManage={mayManageAll(info)} />
        </div>
        <div className="border-line border-t pt-4 empty:hidden">
          <PushSection host={host} machine={machine} />
        </div>
        {mayManageAll(info) ? (
          <div className="border-line border-t pt-4 empty:hidden">
            <ChannelList host={host} info={info} />
          </div>
        ) : null}
        <RelayState deviceId={host.deviceId} machine={machine} info={info} />
        <section aria-label={t("machine.machineSheet.name")} className="border-line border-t pt-4">
          <h3 className="font-medium text-sm">{t("machine.machineSheet.name")}</h3>
          <bdi className="mt-1 block text-sm [overflow-wrap:anywhere]">{info?.label ?? machine}</bdi>
          <p className="mt-1 text-muted text-sm">
            {rich((values) => t("machine.machineSheet.nameHint", values), {
              command: <code className="font-mono">scorel pair --label NAME</code>,
            })}
          </p>
        </section>
      </div>
      {removing ? (
        <ConfirmSheet
          title={t("machine.providerList.removeTitle", { name: removing.name })}
          confirm={t("machine.providerList.removeKey")}
          onConfirm={async () => {
            await host.request("remove_provider_key", { provider: removing.name });
            await queries.invalidateQueries({ queryKey: hostKey(host.deviceId, "list_providers", {}) });
          }}
          onClose={() => setRemoving(null)}
        >
          {t("machine.providerList.removeExplained", { name: removing.name })}
        </ConfirmSheet>
      ) : null}
    </Sheet>
  );
}
