import { Link } from "@tanstack/react-router";
import type { SearchHit } from "../../api/types";
import { cx } from "../../components/cx";
import { ago, useNow } from "../shared/time";
import type { Search } from "./query";

const speakers: Record<string, string> = {
  user: "You",
  assistant: "Agent",
  tool: "Tool",
  summary: "Summary",
  name: "Name",
};

export interface HitListProps {
  deviceId: string;
  search: Search;
  compact: boolean;
}

export function HitList({ deviceId, search, compact }: HitListProps) {
  const now = useNow(30_000);
  const { found, error, busy } = search;
  const hits = found?.hits ?? [];
  return (
    <section aria-label="Found">
      <p role="status" className={cx("caption py-1.5 text-faint", compact ? "pl-2" : "pl-1")}>
        {error ?? (found ? told(found.hits.length, found.behind ?? 0) : busy ? "Searching" : "")}
      </p>
      <ul
        className={cx(
          !compact && hits.length > 0 && "divide-y divide-line rounded-lg border border-line bg-surface shadow-raised",
        )}
      >
        {error
          ? null
          : hits.map((hit) => (
              <li key={`${hit.sessionId}/${hit.entryId}`}>
                <Hit deviceId={deviceId} hit={hit} now={now} compact={compact} />
              </li>
            ))}
      </ul>
    </section>
  );
}

/** What the search came to, in words. */
function told(hits: number, behind: number): string {
  const what = hits === 0 ? "Nothing was found" : hits === 1 ? "1 place" : `${hits} places`;
  return behind > 0 ? `${what} so far; the machine still reads ${behind} sessions` : what;
}

interface HitProps {
  deviceId: string;
  hit: SearchHit;
  now: number;
  compact: boolean;
}

function Hit({ deviceId, hit, now, compact }: HitProps) {
  return (
    <Link
      data-testid="search-hit"
      to="/d/$deviceId/s/$sessionId"
      params={{ deviceId, sessionId: hit.sessionId }}
      search={{ entry: hit.entryId }}
      className={cx("block hover:bg-sunken", compact ? "rounded-md px-2 py-1.5" : "min-h-11 px-4 py-2.5")}
    >
      <span className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 truncate font-medium text-sm">{hit.name || "New session"}</span>
        <time dateTime={new Date(hit.at).toISOString()} className="caption shrink-0 text-faint">
          {ago(hit.at, now)}
        </time>
      </span>
      <span className={cx("block break-words text-muted text-sm", compact ? "line-clamp-2" : "line-clamp-3")}>
        <span className="text-faint">{speakers[hit.role] ?? "Other"}: </span>
        {hit.snippet.map((part, i) =>
          part.found ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a snippet never move
            <mark key={i} className="rounded-sm bg-accent-soft px-0.5 font-medium text-ink">
              {part.text}
            </mark>
          ) : (
            part.text
          ),
        )}
      </span>
    </Link>
  );
}
