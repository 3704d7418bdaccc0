import type { HostInfo } from "../../api/types";
import { Dot, type Tone } from "../../components/Badge";
import { t } from "../../i18n/machine";
import { PathList, PathsExplained, pathsTitle, usePaths } from "../paths/PathList";
import { ConnectionLink } from "../shared/ConnectionLink";
import { useReadable, useScorel } from "../shared/scorel-context";

export interface RelayStateProps {
  deviceId: string;
  machine: string;
  info: HostInfo | null;
}

/** The paths to the machine and the used one; until they are known, the relays of both sides. */
export function RelayState({ deviceId, machine, info }: RelayStateProps) {
  const paths = usePaths(deviceId);
  if (paths.length === 0) {
    return <BothRelays machine={machine} info={info} />;
  }
  const title = pathsTitle(machine);
  return (
    <section data-testid="machine-paths" aria-label={title} className="border-line border-t pt-4">
      <h3 className="font-medium text-sm">{title}</h3>
      <PathsExplained />
      <div className="mt-2 rounded-lg border border-line">
        <PathList paths={paths} machine={machine} />
      </div>
      <CheckLink />
    </section>
  );
}

function CheckLink() {
  return (
    <ConnectionLink className="mt-2 text-sm underline underline-offset-2 hover:text-ink">
      {t("machine.relayState.check")}
    </ConnectionLink>
  );
}

function BothRelays({ machine, info }: { machine: string; info: HostInfo | null }) {
  const scorel = useScorel();
  const url = useReadable(scorel.relayUrl);
  const { state } = useReadable(scorel.link);
  const own: Shown =
    state === "online"
      ? { tone: "accent", text: t("machine.relayState.connected") }
      : state === "connecting"
        ? { tone: "warn", text: t("machine.relayState.connecting") }
        : { tone: "danger", text: t("machine.relayState.notConnected") };
  return (
    <section
      data-testid="relay-state"
      aria-label={t("machine.machineSheet.relay")}
      className="border-line border-t pt-4"
    >
      <h3 className="font-medium text-sm">{t("machine.machineSheet.relay")}</h3>
      <p className="mt-1 text-muted text-sm">{t("machine.relayState.explanation")}</p>
      <ul className="mt-2 space-y-2">
        <Line who={t("machine.relayState.thisBrowser")} url={url} shown={own} />
        <Line who={machine} url={info?.relayUrl ?? ""} shown={ofMachine(info, machine)} />
      </ul>
      <CheckLink />
    </section>
  );
}

interface Shown {
  tone: Tone;
  text: string;
}

function ofMachine(info: HostInfo | null, machine: string): Shown {
  switch (info?.relayState) {
    case "connected":
      return { tone: "accent", text: t("machine.relayState.connected") };
    case "connecting":
      return { tone: "warn", text: t("machine.relayState.connecting") };
    case "off":
      return { tone: "neutral", text: t("machine.relayState.off", { machine }) };
    default:
      return { tone: "neutral", text: t("machine.relayState.unknown", { machine }) };
  }
}

function Line({ who, url, shown }: { who: string; url: string; shown: Shown }) {
  return (
    <li className="text-sm">
      <p className="flex flex-wrap items-baseline gap-x-1.5">
        <bdi className="font-medium [overflow-wrap:anywhere]">{who}</bdi>
        <Dot tone={shown.tone} />
        <span className="text-muted">{shown.text}</span>
      </p>
      {url ? <p className="break-all font-mono text-faint text-xs">{url}</p> : null}
    </li>
  );
}
