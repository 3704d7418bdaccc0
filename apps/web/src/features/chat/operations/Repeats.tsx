import { t } from "../../../i18n/chat";
/** The number of events that one line represents; renders nothing for one. */
export function Repeats({ n }: { n: number | undefined }) {
  if (!n || n < 2) {
    return null;
  }
  return (
    <span className="shrink-0 rounded-sm bg-sunken px-1 text-faint tabular-nums">
      ×{n}
      <span className="sr-only"> {t("chat.operations.times")}</span>
    </span>
  );
}
