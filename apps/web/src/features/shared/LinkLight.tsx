import { lazy } from "react";
import type { LinkState } from "../../api/contract";
import { Dot, type Tone } from "../../components/Badge";
import { Button } from "../../components/Button";
import { t } from "../../i18n/shared";
import { ConnectionLink } from "./ConnectionLink";
import { LazyPart } from "./MissingPart";
import { chunk } from "./missing-chunk";
import { useReadable, useScorel } from "./scorel-context";
import { useNow } from "./time";

// Few relays require an invite.
const InviteStrip = lazy(chunk(async () => ({ default: (await import("./InviteStrip")).InviteStrip })));

const words: Record<LinkState["state"], () => string> = {
  online: () => t("shared.linkLight.online"),
  connecting: () => t("shared.linkLight.connecting"),
  refused: () => t("shared.linkLight.refused"),
  unsupported: () => t("shared.linkLight.unsupported"),
};

const tones: Record<LinkState["state"], Tone> = {
  online: "accent",
  connecting: "warn",
  refused: "danger",
  unsupported: "danger",
};

/** The state of the connection to the relay, always visible. In narrow places it has no text while all is well. */
export function LinkLight({ compact = false }: { compact?: boolean }) {
  const link = useReadable(useScorel().link);
  return (
    <span
      data-testid="link-state"
      data-state={link.state}
      role="status"
      className="caption inline-flex shrink-0 items-center gap-1.5 px-2 text-muted"
      title={t("shared.linkLight.connectionToTheRelay")}
    >
      <Dot tone={tones[link.state]} live={link.state === "connecting"} />
      <span className={compact && link.state === "online" ? "sr-only" : undefined}>{words[link.state]()}</span>
    </span>
  );
}

/** Shows what is wrong with the connection, and what to do. Renders nothing while all is well. */
export function LinkBanner() {
  const scorel = useScorel();
  const link = useReadable(scorel.link);
  const retryAt = link.state === "connecting" ? link.retryAt : null;
  const now = useNow(retryAt === null ? null : 500);
  if (link.state === "refused" && link.needsInvite) {
    return (
      <LazyPart>
        <InviteStrip text={link.message} onInvite={(invite) => scorel.setInvite(invite)} />
      </LazyPart>
    );
  }
  if (link.state === "refused") {
    return <Strip tone="danger" text={link.message} onRetry={() => scorel.reconnectNow()} />;
  }
  // The first attempt is usually fast; a flashing banner would only alarm people.
  if (link.state !== "connecting" || (link.attempt <= 1 && link.lastError === null)) {
    return null;
  }
  const wait = retryAt === null ? null : Math.max(0, Math.ceil((retryAt - now) / 1000));
  const text = wait
    ? t("shared.linkLight.noConnectionNextTry", { seconds: wait })
    : t("shared.linkLight.noConnectionTryingNow");
  return <Strip tone="warn" text={text} detail={link.lastError} onRetry={() => scorel.reconnectNow()} />;
}

function Strip(props: { tone: "warn" | "danger"; text: string; detail?: string | null; onRetry: () => void }) {
  const colors =
    props.tone === "warn" ? "border-warn-line bg-warn-soft text-warn" : "border-danger-line bg-danger-soft text-danger";
  return (
    <section
      aria-label={t("shared.linkLight.connectionToTheRelay")}
      data-testid="link-banner"
      className={`safe-x flex shrink-0 items-center gap-3 border-b py-1.5 text-sm ${colors}`}
    >
      <div className="min-w-0 flex-1">
        <p>{props.text}</p>
        {props.detail ? <p className="truncate text-xs">{props.detail}</p> : null}
      </div>
      <ConnectionLink className="font-medium underline underline-offset-2">
        {t("shared.linkLight.findOutWhy")}
      </ConnectionLink>
      <Button onClick={props.onRetry}>{t("shared.linkLight.tryNow")}</Button>
    </section>
  );
}
