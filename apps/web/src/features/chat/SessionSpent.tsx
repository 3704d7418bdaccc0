import type { SessionSummary, TokenUsage } from "../../api/types";
import { dollars } from "../shared/money";

const count = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** What the session took so far; nothing where no provider told. */
export function SessionSpent({ session }: { session: SessionSummary }) {
  const { usage, auxiliary, delegated, inherited, uncounted } = session;
  if (!usage && !auxiliary && !delegated && !inherited && !uncounted) return null;
  const cost = costOf(session);
  return (
    <section aria-label="What it took" data-testid="session-spent" className="mt-5 border-line border-t pt-4 text-sm">
      <p className="flex items-baseline justify-between gap-3">
        <span className="font-medium">What it took</span>
        {cost > 0 ? <span className="tabular-nums">{dollars(cost)}</span> : null}
      </p>
      {usage ? <p className="mt-1 text-muted">{words(usage)}</p> : null}
      {auxiliary ? <p className="mt-1 text-muted">Titles and summaries: {words(auxiliary)}</p> : null}
      {delegated ? (
        <p className="mt-1 text-muted">
          Agents that it gave tasks to: {words(delegated)}
          {priced(delegated)}
        </p>
      ) : null}
      {uncounted ? (
        <p className="mt-1 text-muted">Calls that broke off before their tokens were told: {uncounted}</p>
      ) : null}
      {inherited ? (
        <p className="mt-1 text-muted">
          Taken over with the fork, not counted here: {words(inherited)}
          {priced(inherited)}
        </p>
      ) : null}
    </section>
  );
}

/** What the session cost so far, with the agents that it gave tasks to; 0 where no prices are known. */
export function costOf({ usage, auxiliary, delegated }: SessionSummary): number {
  return (usage?.cost ?? 0) + (auxiliary?.cost ?? 0) + (delegated?.cost ?? 0);
}

function priced({ cost }: TokenUsage): string {
  return cost ? `, ${dollars(cost)}` : "";
}

/** The same where room is short; nothing where no prices are known. */
export function SessionCost({ session }: { session: SessionSummary }) {
  const cost = costOf(session);
  if (cost === 0) return null;
  return (
    <span
      data-testid="session-cost"
      title="What the session cost so far"
      className="px-2 text-faint text-xs tabular-nums"
    >
      <span className="sr-only">Cost so far: </span>
      {dollars(cost)}
    </span>
  );
}

function words({ input, output, cacheRead, cacheWrite }: TokenUsage): string {
  const said = [`${count.format(input)} tokens in`, `${count.format(output)} out`];
  if (cacheRead > 0) said.push(`${count.format(cacheRead)} from the cache`);
  if (cacheWrite > 0) said.push(`${count.format(cacheWrite)} to the cache`);
  return said.join(", ");
}
