import type { SessionSummary, TokenUsage } from "../../api/types";
import { t } from "../../i18n/session";
import { dollars } from "../shared/money";
import { tokens } from "../shared/tokens";

/** The usage of the session so far; renders nothing if no provider reported any. */
export function SessionSpent({ session }: { session: SessionSummary }) {
  const { usage, auxiliary, delegated, inherited, uncounted } = session;
  if (!usage && !auxiliary && !delegated && !inherited && !uncounted) {
    return null;
  }
  const cost = costOf(session);
  return (
    <section
      aria-label={t("session.sessionSpent.usage")}
      data-testid="session-spent"
      className="mt-5 border-line border-t pt-4 text-sm"
    >
      <p className="flex items-baseline justify-between gap-3">
        <span className="font-medium">{t("session.sessionSpent.usage")}</span>
        {cost > 0 ? <span className="tabular-nums">{dollars(cost)}</span> : null}
      </p>
      {usage ? <p className="mt-1 text-muted">{words(usage)}</p> : null}
      {auxiliary ? (
        <p className="mt-1 text-muted">{t("session.sessionSpent.titlesAndSummaries", { usage: words(auxiliary) })}</p>
      ) : null}
      {delegated ? (
        <p className="mt-1 text-muted">
          {t("session.sessionSpent.subagents", { usage: words(delegated), cost: priced(delegated) })}
        </p>
      ) : null}
      {uncounted ? (
        <p className="mt-1 text-muted">
          {t("session.sessionSpent.interruptedCallsUsageUnknown", { count: uncounted })}
        </p>
      ) : null}
      {inherited ? (
        <p className="mt-1 text-muted">
          {t("session.sessionSpent.inheritedFromTheOriginalNot", {
            usage: words(inherited),
            cost: priced(inherited),
          })}
        </p>
      ) : null}
    </section>
  );
}

/** Returns the cost of the session so far, including its subagents; 0 if prices are unknown. */
export function costOf({ usage, auxiliary, delegated }: SessionSummary): number {
  return (usage?.cost ?? 0) + (auxiliary?.cost ?? 0) + (delegated?.cost ?? 0);
}

function priced({ cost }: TokenUsage): string {
  return cost ? `, ${dollars(cost)}` : "";
}

/** The cost, for narrow places; renders nothing if prices are unknown. */
export function SessionCost({ session }: { session: SessionSummary }) {
  const cost = costOf(session);
  if (cost === 0) {
    return null;
  }
  return (
    <span
      data-testid="session-cost"
      title={t("session.sessionSpent.costOfTheSessionSo")}
      className="px-2 text-faint text-xs tabular-nums"
    >
      <span className="sr-only">{t("session.sessionSpent.costSoFar")} </span>
      {dollars(cost)}
    </span>
  );
}

function words({ input, output, cacheRead, cacheWrite }: TokenUsage): string {
  const said = [
    t("session.sessionSpent.tokensIn", { tokens: tokens(input) }),
    t("session.sessionSpent.out", { tokens: tokens(output) }),
  ];
  if (cacheRead > 0) {
    said.push(t("session.sessionSpent.fromTheCache", { tokens: tokens(cacheRead) }));
  }
  if (cacheWrite > 0) {
    said.push(t("session.sessionSpent.toTheCache", { tokens: tokens(cacheWrite) }));
  }
  return said.join(", ");
}
