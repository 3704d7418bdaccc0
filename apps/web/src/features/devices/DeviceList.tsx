import { useState } from "react";
import { Link } from "wouter";
import type { Device } from "../../api/contract";
import { IconButton } from "../../components/Button";
import { Card } from "../../components/Card";
import { ChevronRightIcon, MachineIcon, PlusIcon, TrashIcon } from "../../components/icons";
import { t } from "../../i18n/devices";
import { address } from "../route/address";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { rememberModel } from "../shared/model-memory";
import { useScorel } from "../shared/scorel-context";
import { seen } from "../shared/seen";
import { PresenceBadge } from "../status/Presence";
import { WaitingBadge } from "../status/WaitingBadge";

/** The machines that this browser is paired with, and a link to pair more. */
export function DeviceList({ devices }: { devices: readonly Device[] }) {
  const scorel = useScorel();
  const [forgetting, setForgetting] = useState<Device | null>(null);
  return (
    <>
      <ul className="space-y-2">
        {devices.map((device) => (
          <li key={device.id}>
            <DeviceRow device={device} onForget={() => setForgetting(device)} />
          </li>
        ))}
      </ul>
      <Link
        to="/pair"
        className="touchable mt-2 flex items-center justify-center gap-2 rounded-lg border border-line-strong border-dashed px-4 py-3 text-muted text-sm hover:border-accent hover:text-accent"
      >
        <PlusIcon /> {t("devices.deviceList.pairAnotherMachine")}
      </Link>
      {forgetting ? (
        <ConfirmSheet
          title={t("devices.deviceList.removeTitle", { label: forgetting.label })}
          confirm={t("devices.deviceList.remove")}
          onConfirm={async () => {
            await scorel.forgetDevice(forgetting.id);
            rememberModel(forgetting.id, "");
            seen.forget(forgetting.id);
          }}
          onClose={() => setForgetting(null)}
        >
          {t("devices.deviceList.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </>
  );
}

function DeviceRow({ device, onForget }: { device: Device; onForget: () => void }) {
  return (
    <Card data-testid="device-row" className="flex items-center pr-1.5 transition-colors hover:border-line-strong">
      <Link
        to={address.machine(device.id)}
        className="grid min-w-0 flex-1 grid-cols-[auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 rounded-lg py-3 pl-3.5"
      >
        <span className="grid size-10 shrink-0 place-items-center rounded-md bg-sunken text-lg text-muted">
          <MachineIcon />
        </span>
        <span className="min-w-0 flex-1">
          <span
            dir="auto"
            className="line-clamp-2 break-words text-left font-medium [overflow-wrap:anywhere] sm:line-clamp-1"
          >
            {device.label}
          </span>
          <span className="caption block truncate text-faint" title={device.id}>
            {device.id.slice(0, 12)}…{device.id.slice(-4)}
          </span>
        </span>
        <span className="flex items-center gap-1.5">
          <WaitingBadge deviceId={device.id} />
          <PresenceBadge device={device} />
        </span>
        <ChevronRightIcon className="text-faint max-sm:hidden" />
        {device.problem ? (
          <span className="col-span-3 col-start-2 mt-0.5 text-danger text-xs">{device.problem}</span>
        ) : null}
      </Link>
      <IconButton
        label={t("devices.deviceList.removeLabel", { label: device.label })}
        onClick={onForget}
        className="ml-1"
      >
        <TrashIcon />
      </IconButton>
    </Card>
  );
}
