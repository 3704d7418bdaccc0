import { useRoute } from "wouter";
import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/keys";
import { paths } from "../route/address";
import { closeOverlay, paletteKeys } from "../shared/overlay";

type Keys = readonly (readonly [keys: readonly string[], what: string])[];

/** Lists the keys of the current page, and those of all pages. */
export default function Shortcuts() {
  const page = useKeysOfPage();
  const everywhere: Keys = [
    [[paletteKeys().shown], t("keys.shortcuts.palette")],
    [["?"], t("keys.shortcuts.shortcuts")],
    [["Esc"], t("keys.shortcuts.close")],
  ];
  return (
    <Sheet title={t("keys.shortcuts.title")} onClose={closeOverlay}>
      {page ? <Group title={page.title} keys={page.keys} /> : null}
      <Group title={t("keys.shortcuts.everywhere")} keys={everywhere} />
    </Sheet>
  );
}

function useKeysOfPage(): { title: string; keys: Keys } | null {
  const [inbox] = useRoute(paths.inbox);
  const [session] = useRoute(paths.session);
  const [newSession] = useRoute(paths.newSession);
  const [terminals] = useRoute(paths.terminals);
  const answer = [["A", "D", "Shift+A"], t("keys.shortcuts.answer")] as const;
  const writing: Keys = [
    [["Enter"], t("keys.shortcuts.send")],
    [["Shift+Enter"], t("keys.shortcuts.newLine")],
  ];
  if (inbox) {
    return {
      title: t("keys.shortcuts.inbox"),
      keys: [
        [["j", "k"], t("keys.shortcuts.move")],
        [["Enter"], t("keys.shortcuts.open")],
        [["e"], t("keys.shortcuts.archive")],
        [["p"], t("keys.shortcuts.pin")],
        [["u"], t("keys.shortcuts.read")],
        [["/"], t("keys.shortcuts.searchAll")],
        answer,
      ],
    };
  }
  if (session) {
    return {
      title: t("keys.shortcuts.session"),
      keys: [
        ...writing,
        [["Esc", "Esc"], t("keys.shortcuts.stop")],
        [["/"], t("keys.shortcuts.find")],
        answer,
        [["1–9"], t("keys.shortcuts.choose")],
      ],
    };
  }
  if (newSession) {
    return { title: t("keys.shortcuts.newSession"), keys: writing };
  }
  if (terminals) {
    return {
      title: t("keys.shortcuts.terminal"),
      keys: [
        [["Ctrl+F6"], t("keys.shortcuts.leave")],
        [["←", "→"], t("keys.shortcuts.tabs")],
        [["Ctrl+Shift+C", "Ctrl+Shift+V"], t("keys.shortcuts.copyPaste")],
      ],
    };
  }
  return null;
}

function Group({ title, keys }: { title: string; keys: Keys }) {
  return (
    <section className="not-first:mt-5 not-first:border-line not-first:border-t not-first:pt-4">
      <h3 className="mb-2.5 font-semibold text-sm">{title}</h3>
      <dl className="grid grid-cols-[8.5rem_minmax(0,1fr)] items-center gap-x-4 gap-y-2.5 text-sm">
        {keys.map(([names, what]) => (
          <div key={what} className="contents">
            <dt className="flex flex-wrap gap-1">
              {names.map((name, i) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: keys may repeat, and the order never changes
                <Key key={i} name={name} />
              ))}
            </dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** A key, as printed on the keyboard. */
export function Key({ name }: { name: string }) {
  return <kbd className="rounded-sm border border-line-strong px-1.5 py-0.5 font-mono text-xs">{name}</kbd>;
}
