import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import type { Channel, ChannelPlatform, ChannelSetting } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/channels";
import { useAct } from "../shared/use-act";
import { settingText } from "./words";

export interface AddChannelProps {
  host: Host;
  platforms: ChannelPlatform[];
  onDone: (channel: Channel) => Promise<unknown>;
  onCancel: () => void;
}

/**
 * Adds a bot on a chat platform. Its secrets exist only in the state of this form, which ends with it: the host never
 * returns them.
 */
export function AddChannel({ host, platforms, onDone, onCancel }: AddChannelProps) {
  const [kind, setKind] = useState(platforms[0]?.kind ?? "");
  const [name, setName] = useState("");
  const [values, setValues] = useState<Record<string, string>>({});
  const [clientKey] = useState(() => crypto.randomUUID());
  const { busy, error, act } = useAct();
  const platform = platforms.find((each) => each.kind === kind);
  const settings = platform?.settings ?? [];
  const filled = settings.flatMap((each) => {
    const value = (values[each.name] ?? "").trim();
    return value ? [[each.name, value] as const] : [];
  });
  const ready = settings.every(({ name, optional }) => optional || filled.some(([known]) => known === name));
  const add = (event: FormEvent) => {
    event.preventDefault();
    void act("add", async () => {
      const request = { clientKey, kind, name: name.trim(), settings: Object.fromEntries(filled) };
      await onDone((await host.request("add_channel", request)).channel);
    });
  };
  return (
    <form
      data-testid="channel-form"
      onSubmit={add}
      noValidate
      autoComplete="off"
      className="mt-2 space-y-3 rounded-md border border-line p-3"
    >
      <div>
        <p aria-hidden="true" className="mb-1 font-medium text-sm">
          {t("channels.add.platform")}
        </p>
        <Select
          label={t("channels.add.platform")}
          data-testid="channel-platform"
          className="w-full"
          autoFocus
          value={kind}
          options={platforms.map(({ kind, title }) => ({ value: kind, label: title }))}
          onChange={(event) => {
            setKind(event.target.value);
            setValues({}); // the token of one platform is never sent to another
          }}
        />
        <p className="mt-1.5 text-muted text-sm">{howTo(kind)}</p>
      </div>
      {settings.map((setting) => (
        <Setting
          key={`${kind} ${setting.name}`}
          kind={kind}
          setting={setting}
          value={values[setting.name] ?? ""}
          onChange={(value) => setValues((before) => ({ ...before, [setting.name]: value }))}
        />
      ))}
      <TextField
        label={t("channels.add.name")}
        value={name}
        maxLength={64}
        placeholder={platform?.title ?? ""}
        data-testid="channel-name"
        onChange={(event) => setName(event.target.value)}
      />
      <ErrorText>{error}</ErrorText>
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onCancel}>{t("channels.add.cancel")}</Button>
        <Button type="submit" tone="primary" data-testid="channel-save" busy={busy !== null} disabled={!ready}>
          {t("channels.add.save")}
        </Button>
      </div>
    </form>
  );
}

interface SettingProps {
  kind: string;
  setting: ChannelSetting;
  value: string;
  onChange: (value: string) => void;
}

function Setting({ kind, setting, value, onChange }: SettingProps) {
  const { name, usage, secret, optional } = setting;
  return (
    <TextField
      label={settingText(kind, name, usage)}
      {...(secret ? { hint: t("channels.add.secretHint"), type: "password" } : {})}
      mono
      value={value}
      placeholder={optional ? t("channels.add.optional") : ""}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      data-testid={`channel-setting-${name}`}
      data-1p-ignore=""
      data-lpignore="true"
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

/** How to get a bot, in a sentence. The documentation has the steps. */
function howTo(kind: string): string {
  switch (kind) {
    case "telegram":
      return t("channels.howTo.telegram");
    case "slack":
      return t("channels.howTo.slack");
    case "discord":
      return t("channels.howTo.discord");
    case "qq":
      return t("channels.howTo.qq");
    case "webhook":
      return t("channels.howTo.webhook");
    default:
      return "";
  }
}
