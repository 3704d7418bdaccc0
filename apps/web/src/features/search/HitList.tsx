import { useEffect, useRef } from "react";
import { Link } from "wouter";
import { Button } from "../../components/Button";
import { cx } from "../../components/cx";
import { t } from "../../i18n/search";
import { address } from "../route/address";
import { ago, useNow } from "../shared/time";
import type { Found, FoundHit } from "./query";

const speakers: Record<string, () => string> = {
  user: () => t("search.hitList.you"),
  assistant: () => t("search.hitList.agent"),
  tool: () => t("search.hitList.tool"),
  summary: () => t("search.hitList.summary"),
  name: () => t("search.hitList.name"),
};

export interface HitListProps {
  found: Found;
  compact?: boolean;
}

export function HitList({ found, compact = false }: HitListProps) {
  const now = useNow(30_000);
  const { error, busy, onOlder } = found;
  const hits = found.hits ?? [];
  const list = useRef<HTMLUListElement>(null);
  const pressed = useRef(false);
  const last = !onOlder;
  useEffect(() => {
    if (last && pressed.current && document.activeElement === document.body) {
      // The button is gone: do not lose the focus with it.
      list.current?.querySelector<HTMLElement>("li:last-child a")?.focus();
    }
    pressed.current = false;
  }, [last]);
  return (
    <section aria-label={t("search.hitList.searchResults")}>
      <p role="status" className={cx("caption py-1.5 text-faint", compact ? "pl-2" : "pl-1")}>
        {error ?? (found.hits ? told(hits.length, found) : busy ? t("search.hitList.searching") : "")}
      </p>
      <ul
        ref={list}
        className={cx(
          !compact && hits.length > 0 && "divide-y divide-line rounded-lg border border-line bg-surface shadow-raised",
        )}
      >
        {error
          ? null
          : hits.map((each) => (
              <li key={`${each.deviceId}/${each.hit.sessionId}/${each.hit.entryId}`}>
                <Hit found={each} text={found.text} now={now} compact={compact} />
              </li>
            ))}
      </ul>
      {onOlder && !error ? (
        <Button
          tone="quiet"
          className={cx("w-full text-xs", !compact && "mt-2")}
          data-testid="older-hits"
          data-stop
          busy={busy}
          onClick={() => {
            pressed.current = true;
            onOlder();
          }}
        >
          {t("search.hitList.older")}
        </Button>
      ) : null}
    </section>
  );
}

/** Returns the result of the search, in words. */
function told(hits: number, { behind, more, onOlder }: Found): string {
  if (behind > 0) {
    return t("search.hitList.resultsSoFar", { hits, behind });
  }
  if (onOlder) {
    return t("search.hitList.resultsOfMore", { hits });
  }
  return more ? t("search.hitList.newest", { hits }) : t("search.hitList.results", { hits });
}

interface HitProps {
  found: FoundHit;
  text: string;
  now: number;
  compact: boolean;
}

function Hit({ found: { deviceId, machine, hit }, text, now, compact }: HitProps) {
  return (
    <Link
      data-testid="search-hit"
      data-stop
      to={address.session(deviceId, hit.sessionId, { entry: hit.entryId })}
      state={{ find: text }}
      className={cx("block hover:bg-sunken", compact ? "rounded-md px-2 py-1.5" : "min-h-11 px-4 py-2.5")}
    >
      <span className="flex items-baseline gap-2">
        <span className="min-w-0 flex-1 truncate font-medium text-sm">
          {hit.name || t("search.hitList.newSession")}
        </span>
        {machine ? <span className="caption max-w-24 truncate text-faint md:max-w-40">{machine}</span> : null}
        <time dateTime={new Date(hit.at).toISOString()} className="caption shrink-0 text-faint">
          {ago(hit.at, now)}
        </time>
      </span>
      <span className={cx("block break-words text-muted text-sm", compact ? "line-clamp-2" : "line-clamp-3")}>
        <span className="text-faint">{speakers[hit.role]?.() ?? t("search.hitList.other")}</span>
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
