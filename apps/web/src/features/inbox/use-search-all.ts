import { keepPreviousData, useQueries } from "@tanstack/react-query";
import type { Requests } from "../../api/types";
import { t } from "../../i18n/inbox";
import { askAgain, type Found, isSearch, searchPages, usePages, whileTyping } from "../search/query";
import { useSettled } from "../search/SessionSearch";
import { isRefusal } from "../shared/errors";
import { hostKey } from "../shared/host-keys";
import { withHelp } from "../shared/with-help";
import type { Machine } from "./use-machines";

type Answer = Requests["search_sessions"]["response"];

/** How many hits each machine returns at once. */
const limit = 50;

/**
 * Searches the sessions of machines for a text while it is typed. `left` has the machines that could not be searched.
 */
export function useSearchAll(machines: readonly Machine[], text: string): { found: Found; left: string[] } {
  const settled = useSettled(text);
  const asked = isSearch(settled) && isSearch(text);
  const fields = { query: whileTyping(settled), limit };
  const [pages, onOlder] = usePages(settled);
  const results = useQueries({
    queries: machines.map(({ host, status }) => ({
      queryKey: [...hostKey(host.deviceId, "search_sessions", fields), pages],
      queryFn: () => searchPages(host, fields, pages),
      enabled: asked && status === "open",
      placeholderData: keepPreviousData,
      staleTime: 2_000,
      refetchInterval: ({ state }: { state: { data?: Answer } }) => askAgain(state.data),
      retry: (failures: number, cause: Error) => !isRefusal(cause) && failures < 2,
    })),
  });
  const answers = machines.map((machine, i) => ({ ...machine, result: results[i] }));
  const several = machines.length > 1;
  const hits = answers.flatMap(({ device, result }) =>
    (result?.data?.hits ?? []).map((hit) => ({
      deviceId: device.id,
      ...(several ? { machine: device.label } : {}),
      hit,
    })),
  );
  const open = answers.filter(({ status }) => status === "open");
  const errors = open.flatMap(({ result }) => (result?.error ? [withHelp(result.error)] : []));
  const error =
    open.length === 0 ? t("inbox.search.offline") : errors.length === open.length ? (errors[0] ?? null) : null;
  const left = answers.filter(({ status, result }) => status !== "open" || result?.error);
  return {
    found: {
      hits: asked && open.some(({ result }) => result?.data) ? hits.sort((a, b) => b.hit.at - a.hit.at) : null,
      text,
      behind: results.reduce((sum, { data }) => sum + (data?.behind ?? 0), 0),
      more: results.some(({ data }) => data?.more ?? (data?.hits.length ?? 0) >= limit),
      onOlder: results.some(({ data }) => data?.more) ? onOlder : undefined,
      error: asked ? error : null,
      busy: results.some(({ isFetching }) => isFetching) || (open.length > 0 && text !== settled && isSearch(text)),
    },
    left: asked && !error ? left.map(({ device }) => device.label) : [],
  };
}
