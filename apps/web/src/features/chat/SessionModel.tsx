import { useQueryClient } from "@tanstack/react-query";
import type { HostInfo, SessionSummary } from "../../api/types";
import { Select } from "../../components/Select";
import { useToast } from "../../components/Toast";
import { modelLabel } from "../device/ModelSelect";
import { sentence } from "../shared/errors";
import { applyHostEvent, useHost } from "../shared/host-queries";

/** The model that answers next in a session. */
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
  const queries = useQueryClient();
  const toast = useToast();
  const change = async (model: string) => {
    try {
      await host.request("set_model", { sessionId: session.id, model });
      applyHostEvent(queries, deviceId, { type: "session_updated", session: { ...session, model } });
    } catch (cause) {
      toast(sentence(cause));
    }
  };
  const known = info.models.some((model) => model.name === session.model);
  const options = info.models.map((model) => ({ value: model.name, label: modelLabel(model) }));
  return (
    <Select
      label="Model"
      value={session.model}
      onChange={(event) => change(event.target.value)}
      options={known ? options : [{ value: session.model, label: `${session.model} (not configured)` }, ...options]}
      className="max-w-full"
    />
  );
}
