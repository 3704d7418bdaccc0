import { useState } from "react";
import type { Host } from "../../api/contract";
import type { MCPServer, Requests } from "../../api/types";
import { t } from "../../i18n/project";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { useLostFocus } from "../shared/lost-focus";
import { RowAction } from "../shared/RowAction";
import { useAct } from "../shared/use-act";

export interface ServerActionsProps {
  host: Host;
  projectId?: string;
  server: MCPServer;
  busy: boolean;
  /** Whether this browser may allow servers to start. */
  mayLoosen: boolean;
  onToggle: (enabled: boolean) => void;
  /** null if this browser cannot change it. */
  onEdit: (() => void) | null;
  /** Called with the result, in words. */
  onRemoved: (what: string) => Promise<unknown>;
}

/** The actions for a server, and the result of testing it. */
export function ServerActions(props: ServerActionsProps) {
  const { host, projectId, server, busy, mayLoosen, onToggle, onEdit, onRemoved } = props;
  const { name, state, version, disabled } = server;
  const [removing, setRemoving] = useState(false);
  const [tested, setTested] = useState<Requests["test_mcp_server"]["response"] | null>(null);
  const { busy: testing, error, act } = useAct();
  const first = useLostFocus<HTMLButtonElement>();
  const where = projectId ? { projectId } : {};
  const waits = state === "needs_consent" || state === "untrusted" || state === "denied";
  const test = () =>
    act("test", async () => {
      setTested(null);
      setTested(await host.request("test_mcp_server", { ...where, name }));
    });
  return (
    <>
      <div className="-ml-3 mt-2 flex flex-wrap gap-x-1">
        {mayLoosen && !waits ? (
          <RowAction
            ref={first}
            testId="mcp-test"
            label={t("project.serverActions.testNamed", { name })}
            busy={testing !== null}
            onClick={test}
          >
            {t("project.serverActions.test")}
          </RowAction>
        ) : null}
        {onEdit ? (
          <RowAction testId="mcp-edit" label={t("project.serverActions.editNamed", { name })} onClick={onEdit}>
            {t("project.agentList.edit")}
          </RowAction>
        ) : null}
        {state === "disabled" ? (
          disabled && mayLoosen ? (
            <RowAction
              testId="mcp-toggle"
              label={t("project.serverActions.enableNamed", { name })}
              busy={busy}
              onClick={() => onToggle(true)}
            >
              {t("project.agentList.enable")}
            </RowAction>
          ) : null
        ) : waits ? null : (
          <RowAction
            testId="mcp-toggle"
            label={t("project.serverActions.disableNamed", { name })}
            busy={busy}
            onClick={() => onToggle(false)}
          >
            {t("project.agentList.disable")}
          </RowAction>
        )}
        {version ? (
          <RowAction
            testId="mcp-remove"
            label={t("project.serverActions.removeNamed", { name })}
            onClick={() => setRemoving(true)}
          >
            {t("project.serverActions.remove")}
          </RowAction>
        ) : null}
      </div>
      <div role="status">
        {testing ? <p className="mt-1 text-muted">{t("project.serverActions.testing")}</p> : null}
        {tested && !tested.problem ? <Tools tools={tested.tools} /> : null}
      </div>
      {error || tested?.problem ? (
        <p role="alert" data-testid="mcp-problem" className="mt-1 break-words text-danger">
          {error ?? t("project.serverActions.problem", { problem: tested?.problem ?? "" })}
        </p>
      ) : null}
      {removing ? (
        <ConfirmSheet
          title={t("project.serverActions.removeTitle", { name })}
          confirm={t("project.serverActions.remove")}
          onConfirm={async () => {
            await host.request("delete_mcp_server", { ...where, name, version: version ?? "" });
            await onRemoved(t("project.serverActions.removed", { name }));
          }}
          onClose={() => setRemoving(false)}
        >
          {t("project.serverActions.removeExplained")}
        </ConfirmSheet>
      ) : null}
    </>
  );
}

/** The tools of a working server. */
function Tools({ tools }: { tools: Requests["test_mcp_server"]["response"]["tools"] }) {
  return (
    <div data-testid="mcp-tested" className="mt-1">
      <p className="text-accent">{t("project.serverActions.works", { count: tools.length })}</p>
      <ul className="mt-1 space-y-1">
        {tools.map(({ name, description }) => (
          <li key={name}>
            <span className="break-all font-mono text-xs">{name}</span>
            {description ? (
              <span dir="auto" className="line-clamp-2 break-words text-muted text-xs">
                {description}
              </span>
            ) : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
