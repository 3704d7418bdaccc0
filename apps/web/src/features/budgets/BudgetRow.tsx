import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Budget } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { t } from "../../i18n/budgets";
import { dollars } from "../shared/money";
import { tokens } from "../shared/tokens";
import { AmountForm } from "./AmountForm";
import { type Limit, limitsOf, limitText, scopeText } from "./words";

export interface BudgetRowProps {
  host: Host;
  budget: Budget;
  /** Whether this browser may set and lift it. */
  mayChange: boolean;
  busy: boolean;
  /** Runs a change, and reports it in the given words. */
  change: (run: () => Promise<unknown>, done: string) => Promise<void>;
}

/** A budget: what is used of its limits, and the forms to set and to lift it. */
export function BudgetRow({ host, budget, mayChange, busy, change }: BudgetRowProps) {
  const [form, setForm] = useState<"set" | "more" | null>(null);
  const { scope, id, lifted, exceeded, unpricedTokens } = budget;
  const named = { scope, ...(id ? { id } : {}) };
  const limits = limitsOf(budget);
  const run = async (request: () => Promise<unknown>, done: string) => {
    await change(request, done);
    setForm(null);
  };
  const open = (which: "set" | "more") => setForm(form === which ? null : which);
  return (
    <li data-testid="budget" data-scope={scope} className="py-2.5 text-sm">
      <div className="flex flex-wrap items-center gap-2">
        <span className="font-medium">{scopeText(budget)}</span>
        {exceeded ? <Badge tone="danger">{t("budgets.row.usedUp")}</Badge> : null}
        {lifted ? <Badge tone="warn">{t("budgets.row.lifted")}</Badge> : null}
      </div>
      {limits.map((limit) => (
        <Meter key={limit.kind} limit={limit} />
      ))}
      {limits.length === 0 ? <p className="mt-0.5 text-muted">{usedText(budget)}</p> : null}
      {unpricedTokens ? (
        <p className="mt-0.5 text-muted">{t("budgets.row.unpriced", { tokens: tokens(unpricedTokens) })}</p>
      ) : null}
      {mayChange ? (
        <div className="mt-1 -ml-3 flex flex-wrap gap-x-1">
          <Button
            tone="quiet"
            className="text-xs"
            data-testid="budget-set"
            aria-expanded={form === "set"}
            aria-label={t("budgets.row.changeNamed", { scope: scopeText(budget) })}
            onClick={() => open("set")}
          >
            {t("budgets.row.change")}
          </Button>
          {limits.length > 0 && !lifted ? (
            <Button
              tone="quiet"
              className="text-xs"
              data-testid="budget-more"
              aria-expanded={form === "more"}
              aria-label={t("budgets.row.moreNamed", { scope: scopeText(budget) })}
              onClick={() => open("more")}
            >
              {t("budgets.row.more")}
            </Button>
          ) : null}
        </div>
      ) : null}
      {form === "set" ? (
        <AmountForm
          cost={budget.cost}
          tokens={budget.tokens}
          placeholder={t("budgets.form.none")}
          labels={{
            cost: t("budgets.form.cost"),
            tokens: t("budgets.form.tokens"),
            submit: t("budgets.form.save"),
          }}
          mayBeEmpty
          busy={busy}
          onSubmit={(amounts) => run(() => host.request("set_budget", { ...named, ...amounts }), t("budgets.list.set"))}
        >
          <Button onClick={() => setForm(null)}>{t("budgets.form.cancel")}</Button>
          {budget.source === "budgets.json" ? (
            <Button
              tone="quiet"
              onClick={() => run(() => host.request("set_budget", { ...named, reset: true }), t("budgets.list.set"))}
            >
              {t("budgets.form.reset")}
            </Button>
          ) : null}
        </AmountForm>
      ) : null}
      {form === "more" ? (
        <AmountForm
          labels={{
            cost: t("budgets.form.moreDollars"),
            tokens: t("budgets.form.moreTokens"),
            submit: t("budgets.form.add"),
          }}
          hint={scope === "session" ? t("budgets.form.forSession") : t("budgets.form.forDay")}
          busy={busy}
          onSubmit={(amounts) =>
            run(() => host.request("lift_budget", { ...named, ...amounts }), t("budgets.list.more"))
          }
        >
          <Button
            data-testid="budget-lift"
            onClick={() => run(() => host.request("lift_budget", named), t("budgets.list.lifted"))}
          >
            {t("budgets.row.lift")}
          </Button>
          <Button tone="quiet" onClick={() => setForm(null)}>
            {t("budgets.form.cancel")}
          </Button>
        </AmountForm>
      ) : null}
    </li>
  );
}

function usedText({ usedCost, usedTokens }: Budget): string {
  return usedCost > 0
    ? t("budgets.row.usedOnly", { cost: dollars(usedCost), tokens: tokens(usedTokens) })
    : t("budgets.row.usedTokens", { tokens: tokens(usedTokens) });
}

/** The used part of a limit, as text and as a bar. */
function Meter({ limit }: { limit: Limit }) {
  const part = Math.min(1, limit.used / limit.limit);
  return (
    <div className="mt-1">
      <p className="text-muted tabular-nums">{limitText(limit)}</p>
      <div aria-hidden="true" className="mt-0.5 h-1.5 overflow-hidden rounded-full bg-sunken">
        <div
          className={cx("h-full rounded-full", part >= 1 ? "bg-danger" : part >= 0.8 ? "bg-warn-line" : "bg-accent")}
          style={{ width: `${Math.round(part * 100)}%` }}
        />
      </div>
    </div>
  );
}
