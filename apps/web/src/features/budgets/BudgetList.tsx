import type { Host } from "../../api/contract";
import type { HostInfo } from "../../api/types";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/budgets";
import { isRefusal } from "../shared/errors";
import { may } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useChange } from "../shared/use-change";
import { withHelp } from "../shared/with-help";
import { BudgetRow } from "./BudgetRow";

export interface BudgetListProps {
  host: Host;
  info: HostInfo | null;
  /** If both are absent, only the budget of the day is shown. */
  sessionId?: string;
  projectId?: string;
}

/** The budgets of a session, a project or the day, and what is used of them. */
export default function BudgetList({ host, info, sessionId, projectId }: BudgetListProps) {
  const where = sessionId ? { sessionId } : projectId ? { projectId } : {};
  const { data, error, refetch } = useHostQuery(host, "get_budgets", where);
  const { busy, error: failed, done, change } = useChange(refetch);
  if (isRefusal(error)) {
    return null; // an older host, or one that shows this browser only some projects
  }
  const changeOne = (run: () => Promise<unknown>, what: string) =>
    change("change", async () => {
      await run();
      return what;
    });
  return (
    <Section title={t("budgets.list.title")} error={failed ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("budgets.list.explained")}</p>
      {data || error ? null : <Skeleton label={t("budgets.list.loading")} rows={2} className="mt-2" />}
      <ul className="mt-1 divide-y divide-line">
        {data?.budgets.map((budget) => (
          <BudgetRow
            key={budget.scope}
            {...{ host, budget, change: changeOne, busy: busy !== null }}
            mayChange={may(info, "manage") && may(info, "approve")}
          />
        ))}
      </ul>
    </Section>
  );
}
