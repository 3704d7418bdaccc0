import { FileIcon } from "../../components/icons";
import { t } from "../../i18n/keys";
import type { Machine } from "../inbox/use-machines";
import { useSearchAll } from "../inbox/use-search-all";
import { address } from "../route/address";
import { navigate } from "../route/history";
import { isSearch } from "../search/query";
import type { Entry } from "./entries";

/** How many hits are listed. */
const most = 12;

/** Searches the text of the machines' sessions. The hits are listed after the local matches, which they never move. */
export function useHits(machines: readonly Machine[], text: string) {
  const { found, left } = useSearchAll(machines, text);
  const asked = isSearch(text);
  const entries = (asked ? (found.hits ?? []) : [])
    // Sessions are already found by name.
    .filter(({ hit }) => hit.role !== "name")
    .slice(0, most)
    .map(
      ({ deviceId, machine, hit }): Entry => ({
        id: `text/${deviceId}/${hit.sessionId}/${hit.entryId}`,
        kind: "text",
        title: hit.name || t("keys.palette.newSession"),
        icon: <FileIcon />,
        ...(machine ? { place: machine } : {}),
        excerpt: hit.snippet.map((part, i) =>
          part.found ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a snippet never move
            <mark key={i} className="rounded-sm bg-accent-soft px-0.5 font-medium text-ink">
              {part.text}
            </mark>
          ) : (
            part.text
          ),
        ),
        at: hit.at,
        run: () =>
          navigate(address.session(deviceId, hit.sessionId, { entry: hit.entryId }), { state: { find: text } }),
      }),
    );
  const note = !asked
    ? null
    : (found.error ?? (left.length > 0 ? t("keys.palette.left", { machines: left.join(", ") }) : null));
  return { entries, busy: asked && found.busy, note };
}
