import type { HostInfo, SessionSummary } from "../../../api/types";
import { useToast } from "../../../components/Toast";
import { t } from "../../../i18n/chat";
import { BackendSelect } from "../../backends/BackendSelect";
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
  return (
    <>
      {installed.length > 0 || backend ? (
        <span className="mr-1.5 inline-flex max-w-full items-center">
          <BackendSelect
            label={t("chat.backend.agent")}
            data-testid="session-backend"
            own={t("chat.backend.own")}
            backends={installed}
            value={backend}
            onChange={change}
          />
        </span>
      ) : null}
      {backend === "" ? <SessionModel {...props} /> : null}
    </>
  );
}
