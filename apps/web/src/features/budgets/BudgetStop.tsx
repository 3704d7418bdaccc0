import type { Host } from "../../api/contract";
import type { Budget, HostInfo } from "../../api/types";
import { Button } from "../../components/Button";
import { ErrorText } from "../../components/ErrorText";
import { WarningIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { t } from "../../i18n/budgets";
import { may } from "../shared/grants";
import { useHostQuery } from "../shared/host-queries";
import { dollars } from "../shared/money";
import { tokens } from "../shared/tokens";
import { useAct } from "../shared/use-act";
import { AmountForm } from "./AmountForm";
import { limitsOf } from "./words";

export interface BudgetStopProps {
  host: Host;
  info: HostInfo | null;
  sessionId: string;
  /** Sends the prompt that continues the turn; null if this browser may not. */
  onContinue: (() => Promise<void>) | null;
}

/** Shown after a turn that failed while a budget is used up: which one, and how to continue. */
export default function BudgetStop({ host, info, sessionId, onContinue }: BudgetStopProps) {
  const { data, refetch } = useHostQuery(host, "get_budgets", { sessionId });
  const { busy, error, act } = useAct();
  const budget = data?.budgets.find(({ exceeded }) => exceeded);
  if (!budget) {
    return null;
  }
  const { scope, id } = budget;
  const lift = (name: string, amounts: { cost?: number; tokens?: number }) =>
    act(name, async () => {
      await host.request("lift_budget", { scope, ...(id ? { id } : {}), ...amounts });
      // Another budget may be used up too: it is shown next.
      const { data: now } = await refetch();
      if (!now?.budgets.some(({ exceeded }) => exceeded)) {
        await onContinue?.();
      }
    });
  return (
    <Notice
      tone="warn"
      icon={<WarningIcon />}
      title={t("budgets.stop.title")}
      data-testid="budget-stop"
      className="my-3 max-w-xl"
    >
      <p>{whichText(budget)}</p>
      {onContinue && may(info, "manage") && may(info, "approve") ? (
        <AmountForm
          labels={{
            cost: t("budgets.form.moreDollars"),
            tokens: t("budgets.form.moreTokens"),
            submit: t("budgets.stop.add"),
          }}
          hint={scope === "session" ? t("budgets.form.forSession") : t("budgets.form.forDay")}
          busy={busy === "add"}
          onSubmit={(amounts) => lift("add", amounts)}
        >
          <Button data-testid="budget-lift" busy={busy === "lift"} onClick={() => lift("lift", {})}>
            {t("budgets.stop.lift")}
          </Button>
        </AmountForm>
      ) : (
        <p className="mt-1">{t("budgets.stop.ask")}</p>
      )}
      <ErrorText className="mt-2">{error}</ErrorText>
    </Notice>
  );
}

function whichText(budget: Budget): string {
  const reached = limitsOf(budget).find(({ used, limit }) => used >= limit);
  const shown = (value: number) =>
    reached?.kind === "tokens" ? t("budgets.row.usedAmount", { tokens: tokens(value) }) : dollars(value);
  const used = reached ? t("budgets.stop.used", { used: shown(reached.used), limit: shown(reached.limit) }) : "";
  switch (budget.scope) {
    case "session":
      return t("budgets.stop.whichSession", { used });
    case "project":
      return t("budgets.stop.whichProject", { used });
    default:
      return t("budgets.stop.whichDay", { used });
  }
}
