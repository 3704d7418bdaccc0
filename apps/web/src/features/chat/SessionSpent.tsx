import type { SessionSummary, TokenUsage } from "../../api/types";

const count = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });

/** What the session took so far; nothing where no provider told. */
export function SessionSpent({ session }: { session: SessionSummary }) {
  const { usage, auxiliary } = session;
  if (!usage && !auxiliary) return null;
  const cost = (usage?.cost ?? 0) + (auxiliary?.cost ?? 0);
  return (
    <section aria-label="What it took" data-testid="session-spent" className="mt-5 border-line border-t pt-4 text-sm">
      <p className="flex items-baseline justify-between gap-3">
        <span className="font-medium">What it took</span>
        {cost > 0 ? <span className="tabular-nums">{dollars(cost)}</span> : null}
      </p>
      {usage ? <p className="mt-1 text-muted">{words(usage)}</p> : null}
      {auxiliary ? <p className="mt-1 text-muted">Titles and summaries: {words(auxiliary)}</p> : null}
    </section>
  );
}

function words({ input, output, cacheRead, cacheWrite }: TokenUsage): string {
  const said = [`${count.format(input)} tokens in`, `${count.format(output)} out`];
  if (cacheRead > 0) said.push(`${count.format(cacheRead)} from the cache`);
  if (cacheWrite > 0) said.push(`${count.format(cacheWrite)} to the cache`);
  return said.join(", ");
}

function dollars(cost: number): string {
  return `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}
