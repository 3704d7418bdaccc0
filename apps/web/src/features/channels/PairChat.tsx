import { type ReactNode, useState } from "react";
import type { Host } from "../../api/contract";
import type { Channel, ChannelChat, Grant, HostInfo, Requests } from "../../api/types";
import { Button } from "../../components/Button";
import { CopyButton } from "../../components/CopyButton";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { t } from "../../i18n/channels";
import { rich } from "../../i18n/rich";
import { Switch } from "../access/Switch";
import { may } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { minutesAndSeconds, useNow } from "../shared/time";
import { useAct } from "../shared/use-act";
import { chatName } from "./words";

export interface PairChatProps {
  host: Host;
  info: HostInfo | null;
  channel: Channel;
  onClose: () => void;
}

const hour = 3_600_000;

/** Differs once a chat was connected again. */
const binding = ({ id, boundAt }: ChannelChat) => `${boundAt ?? 0} ${id}`;

/** Creates a code that connects the chat in which it is written to a project. */
export function PairChat({ host, info, channel, onClose }: PairChatProps) {
  const { projects } = useHostData(host);
  const [chosen, setChosen] = useState("");
  const [approve, setApprove] = useState(may(info, "approve"));
  const [files, setFiles] = useState(may(info, "files"));
  const [lasts, setLasts] = useState("0");
  const [code, setCode] = useState<Requests["pair_channel"]["response"] | null>(null);
  const [before, setBefore] = useState<string[]>([]);
  const { busy, error, act } = useAct();
  const projectId = chosen || projects?.[0]?.id || "";
  const create = () =>
    act("pair", async () => {
      const grants: Grant[] = [
        "view",
        "prompt",
        ...(approve ? ["approve" as const] : []),
        ...(files ? ["files" as const] : []),
      ];
      const expires = Number(lasts) > 0 ? { expiresAt: Date.now() + Number(lasts) * hour } : {};
      setBefore(channel.chats.map(binding));
      setCode(await host.request("pair_channel", { id: channel.id, projectId, grants, ...expires }));
    });
  if (code) {
    const connected = channel.chats.find((chat) => chat.boundAt && !before.includes(binding(chat)));
    return <Code {...{ code, connected, busy: busy !== null, error }} onNew={create} onClose={onClose} />;
  }
  return (
    <div data-testid="pair-chat" className="mt-3 space-y-3 rounded-md border border-line p-3">
      <Choice label={t("channels.pair.project")} testId="pair-project" value={projectId} onChange={setChosen}>
        {(projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      </Choice>
      <Choice label={t("channels.pair.lasts")} testId="pair-lasts" value={lasts} onChange={setLasts}>
        {[
          { value: "0", label: t("channels.pair.forever") },
          { value: "1", label: t("channels.pair.hours", { count: 1 }) },
          { value: "8", label: t("channels.pair.hours", { count: 8 }) },
          { value: "24", label: t("channels.pair.days", { count: 1 }) },
          { value: "168", label: t("channels.pair.days", { count: 7 }) },
        ]}
      </Choice>
      <Switch
        label={t("channels.pair.approve")}
        hint={may(info, "approve") ? t("channels.pair.approveHint") : t("channels.pair.notYours")}
        testId="pair-approve"
        on={approve}
        disabled={!may(info, "approve")}
        onChange={setApprove}
      />
      <Switch
        label={t("channels.pair.files")}
        hint={may(info, "files") ? t("channels.pair.filesHint") : t("channels.pair.notYours")}
        testId="pair-files"
        on={files}
        disabled={!may(info, "files")}
        onChange={setFiles}
      />
      <ErrorText>{error}</ErrorText>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>{t("channels.pair.cancel")}</Button>
        <Button tone="primary" data-testid="pair-create" busy={busy !== null} disabled={!projectId} onClick={create}>
          {t("channels.pair.create")}
        </Button>
      </div>
    </div>
  );
}

interface ChoiceProps {
  label: string;
  testId: string;
  value: string;
  onChange: (value: string) => void;
  children: { value: string; label: string }[];
}

function Choice({ label, testId, value, onChange, children }: ChoiceProps) {
  return (
    <div>
      <p aria-hidden="true" className="mb-1 font-medium text-sm">
        {label}
      </p>
      <Select
        label={label}
        data-testid={testId}
        className="w-full"
        value={value}
        options={children}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

interface CodeProps {
  code: Requests["pair_channel"]["response"];
  /** The chat that was connected since the code was created. */
  connected: ChannelChat | undefined;
  busy: boolean;
  error: ReactNode;
  onNew: () => void;
  onClose: () => void;
}

/** The code, until it was used or expires. */
function Code({ code, connected, busy, error, onNew, onClose }: CodeProps) {
  const left = code.expiresAt - useNow(connected ? null : 1000);
  return (
    <div data-testid="pair-chat" className="mt-3 rounded-md border border-line p-3">
      {connected ? (
        <p role="status" data-testid="pair-connected" className="text-accent">
          {t("channels.pair.connected", { name: chatName(connected) })}
        </p>
      ) : left > 0 ? (
        <>
          <p className="text-muted">
            {code.bot ? t("channels.pair.writeToBot", { bot: code.bot }) : t("channels.pair.write")}
          </p>
          <div className="mt-2 flex items-center gap-1 rounded-md border border-line bg-sunken py-1 pr-1 pl-3">
            <span data-testid="chat-code" className="min-w-0 flex-1 select-all font-medium font-mono text-xl">
              {code.code}
            </span>
            <CopyButton text={code.code} label={t("channels.pair.copy")} />
          </div>
          <p className="mt-2 text-muted">
            {rich((values) => t("channels.pair.expiresIn", values), {
              time: <span className="font-mono tabular-nums">{minutesAndSeconds(left)}</span>,
            })}
          </p>
        </>
      ) : (
        <p role="status" className="text-warn">
          {t("channels.pair.expired")}
        </p>
      )}
      <ErrorText>{error}</ErrorText>
      <div className="mt-3 flex flex-wrap justify-end gap-2">
        {connected ? null : (
          <Button data-testid="pair-again" busy={busy} onClick={onNew}>
            {t("channels.pair.again")}
          </Button>
        )}
        <Button tone="primary" data-testid="pair-done" onClick={onClose}>
          {t("channels.pair.done")}
        </Button>
      </div>
    </div>
  );
}
