import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Host } from "../../api/contract";
import { IconButton } from "../../components/Button";
import { cx } from "../../components/cx";
import { CloseIcon, SearchIcon } from "../../components/icons";
import { Spinner } from "../../components/Spinner";
import { isRefusal, sentence } from "../shared/errors";
import { hostKey } from "../shared/host-queries";
import { useReadable } from "../shared/scorel-context";
import { HitList } from "./HitList";
import { isSearch, type Search, whileTyping } from "./query";

/** How long nothing is typed before it is searched for, in milliseconds. */
const pause = 180;

function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** Searches the sessions of a host for a text while it is typed. */
export function useSearch(host: Host, text: string): Search {
  const settled = useSettled(text);
  const open = useReadable(host.status) === "open";
  const asked = isSearch(settled) && isSearch(text);
  const fields = { query: whileTyping(settled), limit: 30 };
  const { data, error, isFetching } = useQuery({
    queryKey: hostKey(host.deviceId, "search_sessions", fields),
    queryFn: () => host.request("search_sessions", fields),
    enabled: asked && open,
    placeholderData: keepPreviousData,
    staleTime: 2_000,
    // What was said last is found a moment later.
    refetchInterval: ({ state }) => (state.data?.behind ? 3_000 : false),
    retry: (failures, cause) => !isRefusal(cause) && failures < 2,
  });
  return {
    found: asked ? (data ?? null) : null,
    error: asked && !open ? "The machine cannot be searched while it is offline." : error ? sentence(error) : null,
    busy: isFetching || (open && text !== settled && isSearch(text)),
  };
}

export interface SessionSearchProps {
  host: Host;
  /** In the sidebar: less of each hit. */
  compact?: boolean;
  /** What is in sight while nothing is searched for. */
  children: React.ReactNode;
}

/** A search over all sessions of a device. What it finds takes the place of its children. */
export function SessionSearch({ host, compact = false, children }: SessionSearchProps) {
  const [text, setText] = useState("");
  const search = useSearch(host, text);
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <search className={cx("relative block", compact && "mb-2")}>
        <SearchIcon className="pointer-events-none absolute top-1/2 left-3 -translate-y-1/2 text-faint" />
        <input
          ref={field}
          type="search"
          data-testid="session-search"
          aria-label="Search the sessions"
          placeholder="Search the sessions"
          autoComplete="off"
          enterKeyHint="search"
          maxLength={200}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape") setText("");
          }}
          className="touchable block w-full rounded-md border border-line-strong bg-surface py-1.5 pr-12 pl-9 text-base placeholder:text-faint sm:text-sm"
        />
        {search.busy ? (
          <span className="absolute top-0 right-11 flex h-full items-center text-faint">
            <Spinner />
          </span>
        ) : null}
        {text === "" ? null : (
          <IconButton
            label="Clear the search"
            onClick={() => {
              setText("");
              field.current?.focus();
            }}
            className="absolute top-0 right-0 h-full"
          >
            <CloseIcon />
          </IconButton>
        )}
      </search>
      {isSearch(text) ? <HitList deviceId={host.deviceId} search={search} compact={compact} /> : children}
    </>
  );
}
