import type { Host } from "../../api/contract";
import { ApiKind, type Hook, type HostInfo } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/hooks";
import { isRefusal } from "../shared/errors";
import { may } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { HookCard } from "./HookCard";

export interface HookListProps {
  host: Host;
  info: HostInfo | null;
  /** If absent, only the hooks of the machine are shown. */
  projectId?: string;
}

/** The hooks of a project or of the machine, those that wait for consent first. */
export default function HookList({ host, info, projectId }: HookListProps) {
  const where = projectId ? { projectId } : {};
  const { data, error, refetch } = useHostQuery(host, "list_hooks", where);
  const { busy, error: failed, done, change } = useChange(refetch);
  if (isRefusal(error) && error.kind === ApiKind.unknown_request) {
    return null; // an older host
  }
  const decide = ({ id, hash = "" }: Hook, allow: boolean) =>
    change(id, async () => {
      await host.request("decide_hook", { projectId: projectId ?? "", id, hash, allow });
      return allow ? t("hooks.list.allowed") : t("hooks.list.denied");
    });
  const waits = ({ state }: Hook) => (state === "needs_consent" ? 0 : 1);
  return (
    <Section title={t("hooks.list.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">
        {projectId ? t("hooks.list.ofTheProject") : t("hooks.list.ofAllProjects")}
      </p>
      {data?.problems?.map((problem) => (
        <p key={problem} className="mt-1 break-words text-danger text-sm">
          {problem}
        </p>
      ))}
      {data || error ? null : <Skeleton label={t("hooks.list.loading")} rows={2} className="mt-2" />}
      {data?.hooks.length === 0 ? <p className="mt-2 text-sm">{t("hooks.list.none")}</p> : null}
      <ul className="mt-2 space-y-2 empty:mt-0">
        {data?.hooks
          .toSorted((a, b) => waits(a) - waits(b))
          .map((hook) => (
            <li key={hook.id}>
              <HookCard
                {...{ host, ...where, hook }}
                busy={busy === hook.id}
                mayLoosen={may(info, "approve")}
                onDecide={(allow) => decide(hook, allow)}
              />
            </li>
          ))}
      </ul>
    </Section>
  );
}
