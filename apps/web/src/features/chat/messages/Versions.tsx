import { IconButton } from "../../../components/Button";
import { BackIcon, ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useHistory } from "../context/history-context";

/** Which version of a message is shown, and the way to the others. Nothing where there is only one. */
export function Versions({ entryId }: { entryId: string }) {
  const { versions, go } = useHistory();
  const version = versions.get(entryId);
  if (!version) {
    return null;
  }
  const { at, count, previous, next } = version;
  const step = (end: string | undefined) => ({
    disabled: !go || !end,
    onClick: () => {
      if (go && end) {
        go(end);
      }
    },
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset would be a form's
    <span
      role="group"
      aria-label={t("chat.messages.versions")}
      data-testid="versions"
      className="inline-flex items-center"
    >
      <IconButton label={t("chat.messages.previousVersion")} {...step(previous)}>
        <BackIcon />
      </IconButton>
      <span className="tabular-nums">
        <span aria-hidden="true">{`${at}/${count}`}</span>
        <span className="sr-only">{t("chat.messages.versionOf", { at, count })}</span>
      </span>
      <IconButton label={t("chat.messages.nextVersion")} {...step(next)}>
        <ChevronRightIcon />
      </IconButton>
    </span>
  );
}
