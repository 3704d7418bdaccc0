import { useState } from "react";
import type { Host } from "../../api/contract";
import type { Hook, Requests } from "../../api/types";
import { Badge } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { ScrollText } from "../../components/ScrollText";
import { t } from "../../i18n/hooks";
import { Lines, Part, Parts } from "../shared/ReviewParts";
import { clock } from "../shared/time";
import { useAct } from "../shared/use-act";
import { visible } from "../shared/visible";
import { outcomeText, stateOf } from "./words";

export interface HookCardProps {
  host: Host;
  /** The project in which it can be tested; absent where there is none. */
  projectId?: string;
  hook: Hook;
  busy: boolean;
  /** Whether this browser may allow and test hooks. */
  mayLoosen: boolean;
  onDecide: (allow: boolean) => void;
}

/** A hook: what runs at which event, its state, and the buttons to allow and to test it. */
export function HookCard({ host, projectId, hook, busy, mayLoosen, onDecide }: HookCardProps) {
  const { state, matcher, event, name, source, reason, last } = hook;
  const { text, tone } = stateOf(hook);
  const at = matcher ? t("hooks.card.event", { event, matcher: visible(matcher) }) : event;
  const called = name || at;
  const asks = Boolean(hook.hash) && state !== "untrusted" && state !== "disabled";
  const allowed = asks && state === "ready";
  return (
    <Card
      data-testid="hook"
      data-state={state}
      tone={state === "needs_consent" ? "warn" : "plain"}
      className="p-3 text-sm"
    >
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <span className="min-w-0 font-medium [overflow-wrap:anywhere]">{visible(called)}</span>
        <span className="caption min-w-0 text-faint [overflow-wrap:anywhere]">{source}</span>
        <span className="ml-auto">
          <Badge tone={tone}>{text}</Badge>
        </span>
      </div>
      {name ? <p className="mt-1 break-words font-mono text-muted text-xs">{at}</p> : null}
      <What hook={hook} />
      {reason && state !== "needs_consent" && state !== "untrusted" ? (
        <p className="mt-2 break-words text-muted">{visible(reason)}</p>
      ) : null}
      {last ? (
        <p className="mt-2 break-words text-muted">
          {t("hooks.card.last", { time: clock(last.at), outcome: visible(outcomeText(last)) })}
        </p>
      ) : null}
      {asks ? (
        <div className="mt-3 flex flex-wrap gap-2">
          {allowed || !mayLoosen ? null : (
            <Button
              data-testid="hook-allow"
              tone="primary"
              aria-label={t("hooks.card.allowNamed", { name: called })}
              busy={busy}
              onClick={() => onDecide(true)}
            >
              {t("hooks.card.allow")}
            </Button>
          )}
          {state === "denied" ? null : (
            <Button
              data-testid="hook-deny"
              aria-label={
                allowed
                  ? t("hooks.card.stopAllowingNamed", { name: called })
                  : t("hooks.card.denyNamed", { name: called })
              }
              busy={busy}
              onClick={() => onDecide(false)}
            >
              {allowed ? t("hooks.card.stopAllowing") : t("hooks.card.deny")}
            </Button>
          )}
        </div>
      ) : null}
      {projectId && mayLoosen && state === "ready" ? (
        <HookTest host={host} projectId={projectId} hook={hook} called={called} />
      ) : null}
    </Card>
  );
}

/** Everything that a person consents to. */
function What({ hook }: { hook: Hook }) {
  const { command, files, timeoutSeconds, sandbox } = hook;
  return (
    <Parts>
      <Part name={t("hooks.card.command")}>
        <span className="whitespace-pre-wrap">{visible(command)}</span>
      </Part>
      {files?.length ? (
        <Part name={t("hooks.card.files")}>
          <Lines lines={files.map(visible)} />
        </Part>
      ) : null}
      <Part name={t("hooks.card.timeout")}>{t("hooks.card.seconds", { count: timeoutSeconds })}</Part>
      {sandbox ? (
        <Part name={t("hooks.card.sandbox")}>{sandbox === "none" ? t("hooks.card.noSandbox") : visible(sandbox)}</Part>
      ) : null}
    </Parts>
  );
}

/** Runs a hook once with an example, and shows what came of it. */
function HookTest({ host, projectId, hook, called }: { host: Host; projectId: string; hook: Hook; called: string }) {
  const [tested, setTested] = useState<Requests["test_hook"]["response"] | null>(null);
  const { busy, error, act } = useAct();
  const test = () =>
    act("test", async () => {
      setTested(null);
      setTested(await host.request("test_hook", { projectId, id: hook.id }));
    });
  return (
    <>
      <Button
        tone="quiet"
        className="mt-1 -ml-3 text-xs"
        data-testid="hook-test"
        aria-label={t("hooks.card.testNamed", { name: called })}
        busy={busy !== null}
        onClick={test}
      >
        {t("hooks.card.test")}
      </Button>
      <div role="status">
        {tested ? (
          <>
            <p data-testid="hook-tested" className="break-words">
              {t("hooks.card.tested", { outcome: visible(outcomeText(tested.run)), time: tested.run.durationMs })}
            </p>
            <div className="mt-1 rounded-md border border-line bg-sunken p-2 text-xs">
              <ScrollText label={t("hooks.card.input")} text={tested.input} />
            </div>
          </>
        ) : null}
      </div>
      {error ? (
        <p role="alert" className="break-words text-danger">
          {error}
        </p>
      ) : null}
    </>
  );
}
