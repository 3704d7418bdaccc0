import { Link, Navigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Device } from "../../api/contract";
import { Badge } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { Card } from "../../components/Card";
import { ConfirmSheet } from "../../components/ConfirmSheet";
import { ChevronRightIcon, MachineIcon, PlusIcon, SettingsIcon, TrashIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { useSettingsSheet } from "../settings/settings-context";
import { PageHeader } from "../shared/PageHeader";
import { useReadable, useScorel } from "../shared/scorel-context";
import { useWide } from "../shared/use-media";
import { Wordmark } from "../shared/Wordmark";

/** The machines that this browser is paired with. A browser with none goes to pairing. */
export function DevicesPage() {
  const scorel = useScorel();
  const devices = useReadable(scorel.devices);
  const openSettings = useSettingsSheet();
  const wide = useWide();
  const [forgetting, setForgetting] = useState<Device | null>(null);
  if (devices?.length === 0) return <Navigate to="/pair" replace />;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <PageHeader
        title={wide ? "Devices" : <Wordmark />}
        actions={
          wide && devices ? null : (
            <IconButton label="Settings" onClick={openSettings}>
              <SettingsIcon />
            </IconButton>
          )
        }
      />
      <main className="safe-x min-h-0 flex-1 overflow-y-auto py-5">
        <div className="mx-auto max-w-2xl">
          {devices === null ? (
            <Skeleton label="Asking the relay for your devices" rows={4} />
          ) : (
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
                className="touchable mt-3 flex items-center justify-center gap-2 rounded-lg border border-line-strong border-dashed px-4 py-3 text-muted text-sm hover:border-accent hover:text-accent"
              >
                <PlusIcon /> Pair another machine
              </Link>
            </>
          )}
        </div>
      </main>
      {forgetting ? (
        <ConfirmSheet
          title={`Forget ${forgetting.label}?`}
          confirm="Forget"
          onConfirm={() => scorel.forgetDevice(forgetting.id)}
          onClose={() => setForgetting(null)}
        >
          This browser loses its way to that machine, and messages that still wait here are dropped. Projects and
          sessions stay on the machine. To come back, pair again.
        </ConfirmSheet>
      ) : null}
    </div>
  );
}

function DeviceRow({ device, onForget }: { device: Device; onForget: () => void }) {
  return (
    <Card data-testid="device-row" className="flex items-center pr-1.5 transition-colors hover:border-line-strong">
      <Link
        to="/d/$deviceId"
        params={{ deviceId: device.id }}
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
        <span data-testid="device-status">
          <DeviceBadge device={device} />
        </span>
        <ChevronRightIcon className="text-faint max-sm:hidden" />
        {device.problem ? (
          <span className="col-span-3 col-start-2 mt-0.5 text-danger text-xs">{device.problem}</span>
        ) : null}
      </Link>
      <IconButton label={`Forget ${device.label}`} onClick={onForget} className="ml-1">
        <TrashIcon />
      </IconButton>
    </Card>
  );
}

function DeviceBadge({ device }: { device: Device }) {
  if (device.revoked) return <Badge tone="danger">removed</Badge>;
  if (device.problem) return <Badge tone="danger">not usable</Badge>;
  if (!device.online) return <Badge>offline</Badge>;
  return (
    <Badge tone="accent" live>
      online
    </Badge>
  );
}
