import type { Host } from "../../api/contract";
import type { SessionSummary } from "../../api/types";
import { t } from "../../i18n/schedules";
import { useHostQuery } from "../shared/host-queries";

/** The schedule that started a session; renders nothing for any other session. */
export function StartedBy({ host, session }: { host: Host; session: SessionSummary }) {
  const id = session.meta?.schedule;
  return id ? <Named host={host} projectId={session.projectId} id={id} /> : null;
}

function Named({ host, projectId, id }: { host: Host; projectId: string; id: string }) {
  const { data } = useHostQuery(host, "list_schedules", { projectId });
  const name = data?.schedules.find((each) => each.id === id)?.spec.name;
  return (
    <p data-testid="started-by" className="mt-4 break-words text-muted text-sm">
      {name ? t("schedules.startedBy.named", { name }) : data ? t("schedules.startedBy.removed") : ""}
    </p>
  );
}
