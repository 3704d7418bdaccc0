import { Sheet } from "../../components/Sheet";
import { t } from "../../i18n/inbox";

/** Lists the keys of the inbox. */
export default function KeysSheet({ onClose }: { onClose: () => void }) {
  const keys: [keys: string[], what: string][] = [
    [["j", "k"], t("inbox.keysSheet.move")],
    [["Enter"], t("inbox.keysSheet.open")],
    [["e"], t("inbox.keysSheet.archive")],
    [["p"], t("inbox.keysSheet.pin")],
    [["u"], t("inbox.keysSheet.read")],
    [["/"], t("inbox.keysSheet.search")],
    [["A", "D", "Shift+A"], t("inbox.keysSheet.answer")],
    [["?"], t("inbox.keysSheet.keys")],
  ];
  return (
    <Sheet title={t("inbox.keysSheet.title")} onClose={onClose}>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-center gap-x-5 gap-y-2.5 text-sm">
        {keys.map(([names, what]) => (
          <div key={what} className="contents">
            <dt className="flex flex-wrap gap-1">
              {names.map((name) => (
                <kbd key={name} className="rounded-sm border border-line-strong px-1.5 py-0.5 font-mono text-xs">
                  {name}
                </kbd>
              ))}
            </dt>
            <dd className="text-muted">{what}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}
