import type { HostInfo, SessionSummary } from "../../../api/types";
import { Select } from "../../../components/Select";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { useHost, useHostQuery } from "../../shared/host-queries";
import { withHelp } from "../../shared/with-help";
import { SessionModel } from "./SessionModel";

export interface SessionBackendProps {
  info: HostInfo;
  session: SessionSummary;
  deviceId: string;
}

/** The program that works on the next prompts, if there is a choice, and the model of scorel's own agent. */
export function SessionBackend(props: SessionBackendProps) {
  const { session, deviceId } = props;
  const host = useHost(deviceId);
  const toast = useToast();
  const { data } = useHostQuery(host, "list_backends", {}); // older hosts refuse it
  const { backend = "" } = session;
  const installed = (data?.backends ?? []).filter(({ path, name }) => path || name === backend);
  const change = async (name: string) => {
    try {
      await host.request("set_backend", { sessionId: session.id, backend: name || "scorel" });
    } catch (cause) {
      toast(withHelp(cause));
    }
  };
  const known = installed.some(({ name }) => name === backend);
  return (
    <>
      {installed.length > 0 || backend ? (
        <Select
          label={t("chat.backend.agent")}
          data-testid="session-backend"
          value={backend}
          onChange={(event) => change(event.target.value)}
          options={[
            { value: "", label: t("chat.backend.own") },
            ...(known || backend === "" ? [] : [{ value: backend, label: backend }]),
            ...installed.map(({ name, title }) => ({ value: name, label: title })),
          ]}
          className="mr-1.5 max-w-full"
        />
      ) : null}
      {backend === "" ? <SessionModel {...props} /> : null}
    </>
  );
}
