import type { ReactNode } from "react";
import { Link } from "wouter";
import type { WaitingPrompt } from "../../api/contract";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { ClockIcon, WarningIcon } from "../../components/icons";
import { t } from "../../i18n/status";
import { address } from "../route/address";
import { useScorel } from "../shared/scorel-context";
import { HostHelp } from "../shared/with-help";
import { useWaiting } from "./use-waiting";

export interface WaitingListProps {
  deviceId: string;
  /** Whether this browser was removed on the device. */
  removed: boolean;
}

/** The prompts that wait in this browser for a device; renders nothing for none. */
export function WaitingList({ deviceId, removed }: WaitingListProps) {
  const prompts = useWaiting(deviceId);
  if (prompts.length === 0) {
    return null;
  }
  return (
    <Card data-testid="waiting-list" className="overflow-hidden">
      <div className="px-4 py-3">
        <h2 className="font-medium">{t("status.waiting.title")}</h2>
        <p className="text-muted text-sm">
          {removed ? t("status.waiting.afterPairing") : t("status.waiting.explained")}
        </p>
      </div>
      <ul className="divide-y divide-line border-line border-t">
        {prompts.map((prompt) => (
          <WaitingRow key={prompt.clientKey} prompt={prompt} />
        ))}
      </ul>
    </Card>
  );
}

function WaitingRow({ prompt }: { prompt: WaitingPrompt }) {
  const scorel = useScorel();
  const { clientKey, text, images, error, kind, unstored } = prompt;
  return (
    <li data-testid="waiting-row" className="flex flex-wrap items-center gap-x-2 gap-y-1 py-2 pr-2 pl-4">
      <span className={error === null ? "text-faint" : "text-danger"}>
        {error === null ? <ClockIcon /> : <WarningIcon />}
      </span>
      <span className="min-w-0 flex-1 basis-48">
        <PromptLink prompt={prompt}>
          <span dir="auto" className="line-clamp-2 break-words text-sm [overflow-wrap:anywhere]">
            {text || t("status.waiting.images", { n: images })}
          </span>
        </PromptLink>
        {unstored ? <span className="block text-warn text-xs">{t("status.waiting.notSaved")}</span> : null}
        {error === null ? null : (
          <span className="block break-words text-danger text-xs">
            {t("status.waiting.reason", { reason: error })} <HostHelp kind={kind} />
          </span>
        )}
      </span>
      <span className="ml-auto flex gap-2">
        {error === null ? null : (
          <Button onClick={() => scorel.retryPrompt(clientKey)}>{t("status.waiting.tryAgain")}</Button>
        )}
        <Button tone="quiet" onClick={() => scorel.discardPrompt(clientKey)}>
          {t("status.waiting.discard")}
        </Button>
      </span>
    </li>
  );
}

/** Links to the session of a prompt, or to the page where it begins. */
function PromptLink({ prompt, children }: { prompt: WaitingPrompt; children: ReactNode }) {
  const { deviceId, sessionId, projectId = "" } = prompt;
  const className = "touchable flex min-w-0 items-center rounded-sm hover:text-accent";
  if (sessionId === null) {
    return (
      <Link to={address.newSession(deviceId, { project: projectId })} className={className}>
        {children}
      </Link>
    );
  }
  return (
    <Link to={address.session(deviceId, sessionId)} className={className}>
      {children}
    </Link>
  );
}
