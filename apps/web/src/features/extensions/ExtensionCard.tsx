import { type ReactNode, useState } from "react";
import type { Extension } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { t } from "../../i18n/extensions";
import { visible } from "../shared/visible";
import { Contents } from "./Contents";
import { stateOf } from "./words";

export interface ExtensionCardProps {
  extension: Extension;
  /** The action that is running; null if none is. */
  busy: string | null;
  /** Whether this browser may allow and enable extensions, and fetch them. */
  mayLoosen: boolean;
  mayFetch: boolean;
  onDecide: (allow: boolean) => void;
  onEnable: (enabled: boolean) => void;
  onUpdate: () => void;
  onRemove: () => void;
}

/** An extension: its state, what it contains, and the actions for it. One that waits shows all of its contents. */
export function ExtensionCard(props: ExtensionCardProps) {
  const { extension, busy } = props;
  const { name, version, description, source, state, reason } = extension;
  const waits = state === "needs_consent" || state === "changed";
  const [open, setOpen] = useState(false);
  const { text, tone } = stateOf(extension);
  return (
    <Card data-testid="extension" data-state={state} tone={waits ? "warn" : "plain"} className="p-3 text-sm">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{name}</span>
        <span className="text-faint text-xs">{version}</span>
        {source === "project" ? <span className="text-faint text-xs">{t("extensions.card.ofTheProject")}</span> : null}
        <span className="ml-auto">
          <Badge tone={tone}>{text}</Badge>
        </span>
      </div>
      {description ? (
        <p dir="auto" className="mt-1 break-words text-muted">
          {visible(description)}
        </p>
      ) : null}
      {reason && state !== "needs_consent" ? <p className="mt-1 break-words text-muted">{visible(reason)}</p> : null}
      {waits || open ? <Contents extension={extension} /> : null}
      <div className="-ml-3 mt-1 flex flex-wrap gap-x-1">
        {waits ? null : (
          <Action
            testId="extension-show"
            label={open ? t("extensions.card.hideNamed", { name }) : t("extensions.card.detailsNamed", { name })}
            expanded={open}
            onClick={() => setOpen(!open)}
          >
            {open ? t("extensions.card.hide") : t("extensions.card.details")}
          </Action>
        )}
        {source === "project" ? <Decide {...props} /> : <Manage {...props} busy={busy} />}
      </div>
    </Card>
  );
}

/** The decision about the files of a project's extension, as they are now. */
function Decide({ extension: { name, state }, busy, mayLoosen, onDecide }: ExtensionCardProps) {
  if (state === "untrusted" || state === "failed") {
    return null;
  }
  const asks = state !== "enabled";
  return (
    <>
      {asks && mayLoosen ? (
        <Action
          testId="extension-allow"
          label={t("extensions.card.allowNamed", { name })}
          primary
          busy={busy === name}
          onClick={() => onDecide(true)}
        >
          {t("extensions.card.allow")}
        </Action>
      ) : null}
      {state === "denied" ? null : (
        <Action
          testId="extension-deny"
          label={asks ? t("extensions.card.denyNamed", { name }) : t("extensions.card.stopAllowingNamed", { name })}
          busy={busy === name}
          onClick={() => onDecide(false)}
        >
          {asks ? t("extensions.card.deny") : t("extensions.card.stopAllowing")}
        </Action>
      )}
    </>
  );
}

function Manage({ extension, busy, mayLoosen, mayFetch, onEnable, onUpdate, onRemove }: ExtensionCardProps) {
  const { name, state } = extension;
  return (
    <>
      {state === "disabled" && mayLoosen ? (
        <Action
          testId="extension-toggle"
          label={t("extensions.card.enableNamed", { name })}
          busy={busy === name}
          onClick={() => onEnable(true)}
        >
          {t("extensions.card.enable")}
        </Action>
      ) : null}
      {state === "enabled" || state === "failed" ? (
        <Action
          testId="extension-toggle"
          label={t("extensions.card.disableNamed", { name })}
          busy={busy === name}
          onClick={() => onEnable(false)}
        >
          {t("extensions.card.disable")}
        </Action>
      ) : null}
      {mayFetch ? (
        <Action
          testId="extension-update"
          label={t("extensions.card.updateNamed", { name })}
          busy={busy === `update ${name}`}
          onClick={onUpdate}
        >
          {t("extensions.card.update")}
        </Action>
      ) : null}
      <Action testId="extension-remove" label={t("extensions.card.removeNamed", { name })} onClick={onRemove}>
        {t("extensions.card.remove")}
      </Action>
    </>
  );
}

interface ActionProps {
  testId: string;
  label: string;
  busy?: boolean;
  expanded?: boolean;
  primary?: boolean;
  onClick: () => void;
  children: ReactNode;
}

function Action({ testId, label, busy = false, expanded, primary = false, onClick, children }: ActionProps) {
  return (
    <Button
      tone={primary ? "primary" : "quiet"}
      className={primary ? "ml-3" : "text-xs"}
      data-testid={testId}
      aria-label={label}
      {...(expanded === undefined ? {} : { "aria-expanded": expanded })}
      busy={busy}
      onClick={onClick}
    >
      {children}
    </Button>
  );
}
