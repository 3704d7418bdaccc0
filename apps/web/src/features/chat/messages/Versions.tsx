import { useEffect, useRef } from "react";
import { IconButton } from "../../../components/Button";
import { BackIcon, ChevronRightIcon } from "../../../components/icons";
import { t } from "../../../i18n/chat";
import { useHistory } from "../context/history-context";
import type { Version } from "../context/versions";

/** Shows which version of a message is visible, with buttons to the others. Renders nothing if there is only one. */
export function Versions({ entryId }: { entryId: string }) {
  const version = useHistory().versions.get(entryId);
  return version ? <Switcher entryId={entryId} version={version} /> : null;
}

function Switcher({ entryId, version }: { entryId: string; version: Version }) {
  const { go, step } = useHistory();
  const group = useRef<HTMLSpanElement>(null);
  const { first, at, count, previous, next } = version;
  // The pressed button disappeared with its message: move the focus to the message that replaced it.
  useEffect(() => {
    const taken = step.current;
    if (!go || taken?.first !== first || taken.from === entryId) {
      return;
    }
    step.current = null;
    if (document.activeElement && document.activeElement !== document.body) {
      return; // the person has moved the focus
    }
    const buttons = [...(group.current?.querySelectorAll<HTMLButtonElement>("button:enabled") ?? [])];
    buttons.at(taken.forward ? -1 : 0)?.focus({ preventScroll: true });
  });
  const button = (end: string | undefined, forward: boolean) => ({
    disabled: !go || !end,
    onClick: () => {
      if (go && end) {
        step.current = { first, from: entryId, forward };
        go(end);
      }
    },
  });
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset belongs to a form
    <span
      ref={group}
      role="group"
      aria-label={t("chat.messages.versions")}
      data-testid="versions"
      className="inline-flex items-center"
    >
      <IconButton label={t("chat.messages.previousVersion")} {...button(previous, false)}>
        <BackIcon />
      </IconButton>
      <span className="tabular-nums">
        <span aria-hidden="true">{`${at}/${count}`}</span>
        <span className="sr-only">{t("chat.messages.versionOf", { at, count })}</span>
      </span>
      <IconButton label={t("chat.messages.nextVersion")} {...button(next, true)}>
        <ChevronRightIcon />
      </IconButton>
    </span>
  );
}
