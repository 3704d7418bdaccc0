import type { Budget } from "../../api/types";
import { t } from "../../i18n/budgets";
import { dollars } from "../shared/money";
import { tokens } from "../shared/tokens";

/** Says what a budget limits. */
export function scopeText({ scope }: Budget): string {
  switch (scope) {
    case "session":
      return t("budgets.scope.session");
    case "project":
      return t("budgets.scope.project");
    case "day":
      return t("budgets.scope.day");
    default:
      return scope;
  }
}

export interface Limit {
  kind: "cost" | "tokens";
  used: number;
  limit: number;
}

/** The limits of a budget, with what people added to them. */
export function limitsOf({ cost, tokens, extraCost = 0, extraTokens = 0, usedCost, usedTokens }: Budget): Limit[] {
  const limits: Limit[] = [];
  if (cost > 0) {
    limits.push({ kind: "cost", used: usedCost, limit: cost + extraCost });
  }
  if (tokens > 0) {
    limits.push({ kind: "tokens", used: usedTokens, limit: tokens + extraTokens });
  }
  return limits;
}

export function limitText({ kind, used, limit }: Limit): string {
  return kind === "cost"
    ? t("budgets.row.cost", { used: dollars(used), limit: dollars(limit) })
    : t("budgets.row.tokens", { used: tokens(used), limit: tokens(limit) });
}

/** Returns the amounts of a form as numbers; null if they are not amounts. */
export function amountsOf(cost: string, count: string): { cost?: number; tokens?: number } | null {
  const [money, number] = [Number(cost), Number(count)];
  if (!(money >= 0 && number >= 0)) {
    return null;
  }
  return { ...(money ? { cost: money } : {}), ...(number ? { tokens: Math.round(number) } : {}) };
}
