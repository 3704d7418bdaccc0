import { type HostInfo, type Model, type Requests, type SessionSummary, THINKING_CONFIGURED } from "../../../api/types";
import { Select } from "../../../components/Select";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { useHost } from "../../shared/host-queries";
import { modelLabel } from "../../shared/ModelSelect";
import { withHelp } from "../../shared/with-help";

/** The model of the session's next answers and its reasoning level, if known. */
export function SessionModel({
  info,
  session,
  deviceId,
}: {
  info: HostInfo;
  session: SessionSummary;
  deviceId: string;
}) {
  const host = useHost(deviceId);
  const toast = useToast();
  // The host notifies all pages of the result, including this one.
  const change = async (fields: Omit<Requests["set_model"]["request"], "sessionId">) => {
    try {
      await host.request("set_model", { sessionId: session.id, ...fields });
    } catch (cause) {
      toast(withHelp(cause));
    }
  };
  const model = info.models.find((each) => each.name === session.model);
  const options = info.models.map((each) => ({ value: each.name, label: modelLabel(each) }));
  const levels = model?.thinkingLevels ?? [];
  const thinking = session.thinking ?? "";
  return (
    <>
      <Select
        label={t("chat.mode.model")}
        value={session.model}
        onChange={(event) => change({ model: event.target.value })}
        options={
          model
            ? options
            : [{ value: session.model, label: t("chat.mode.notConfigured", { model: session.model }) }, ...options]
        }
        className="max-w-full"
      />
      {levels.length > 0 ? (
        <Select
          label={t("chat.mode.reasoningEffort")}
          data-testid="thinking"
          value={thinking}
          onChange={(event) => change({ model: "", thinking: event.target.value })}
          options={thinkingOptions(levels, thinking, model)}
          className="ml-1.5 shrink-0"
        />
      ) : null}
    </>
  );
}

/** The reasoning levels to choose from, with a way back to the configured one if the session has left it. */
function thinkingOptions(levels: string[], thinking: string, model: Model | undefined) {
  const options = (levels.includes(thinking) ? levels : [thinking, ...levels]).map((level) => ({
    value: level,
    label: thinkingLabel(level),
  }));
  const configured = model?.thinking ?? "";
  if (thinking === configured) {
    return options;
  }
  const label = configured === "" ? t("chat.mode.providerDefault") : t("chat.mode.default", { configured });
  return [...options, { value: THINKING_CONFIGURED, label }];
}

function thinkingLabel(level: string): string {
  if (level === "") {
    return t("chat.mode.defaultReasoning");
  }
  return level === "off" ? t("chat.mode.reasoningOff") : t("chat.mode.reasoning", { level });
}
