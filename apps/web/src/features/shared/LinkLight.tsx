import { type FormEvent, useState } from "react";
import type { LinkState } from "../../api/contract";
import { Dot, type Tone } from "../../components/Badge";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { ConnectionLink } from "./ConnectionLink";
import { useReadable, useScorel } from "./scorel-context";
import { useNow } from "./time";

const words: Record<LinkState["state"], string> = {
  online: "online",
  connecting: "connecting",
  refused: "refused",
  unsupported: "not supported",
};

const tones: Record<LinkState["state"], Tone> = {
  online: "accent",
  connecting: "warn",
  refused: "danger",
  unsupported: "danger",
};

/** The state of the connection to the relay, always in sight. Where room is short, all is well needs no word. */
export function LinkLight({ compact = false }: { compact?: boolean }) {
  const link = useReadable(useScorel().link);
  return (
    <span
      data-testid="link-state"
      data-state={link.state}
      role="status"
      className="caption inline-flex shrink-0 items-center gap-1.5 px-2 text-muted"
      title="Connection to the relay"
    >
      <Dot tone={tones[link.state]} live={link.state === "connecting"} />
      <span className={compact && link.state === "online" ? "sr-only" : undefined}>{words[link.state]}</span>
    </span>
  );
}

/** Says what is wrong with the connection, and what can be done. Shows nothing while all is well. */
export function LinkBanner() {
  const scorel = useScorel();
  const link = useReadable(scorel.link);
  const retryAt = link.state === "connecting" ? link.retryAt : null;
  const now = useNow(retryAt === null ? null : 500);
  if (link.state === "refused" && link.needsInvite) {
    return <InviteStrip text={link.message} onInvite={(invite) => scorel.setInvite(invite)} />;
  }
  if (link.state === "refused") {
    return <Strip tone="danger" text={link.message} onRetry={() => scorel.reconnectNow()} />;
  }
  // The first attempt is quick as a rule; a banner that flashes by would only alarm.
  if (link.state !== "connecting" || (link.attempt <= 1 && link.lastError === null)) return null;
  const wait = retryAt === null ? null : Math.max(0, Math.ceil((retryAt - now) / 1000));
  const next = wait === null || wait === 0 ? "Trying now." : `Next try in ${wait} s.`;
  return (
    <Strip
      tone="warn"
      text={`No connection to the relay. ${next}`}
      detail={link.lastError}
      onRetry={() => scorel.reconnectNow()}
    />
  );
}

/** Asks for what a relay wants that lets newcomers in by invite only. */
function InviteStrip({ text, onInvite }: { text: string; onInvite: (invite: string) => void }) {
  const [invite, setText] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onInvite(invite.trim());
  };
  return (
    <form
      data-testid="link-banner"
      aria-label="Connection to the relay"
      onSubmit={submit}
      className="safe-x shrink-0 border-warn-line border-b bg-warn-soft py-2 text-sm"
    >
      <p className="text-warn">{text}</p>
      <div className="mt-2 flex items-end gap-3">
        <TextField
          className="min-w-0 max-w-xs flex-1"
          label="Invite"
          mono
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          maxLength={64}
          value={invite}
          onChange={(event) => setText(event.target.value)}
        />
        <Button type="submit" tone="primary" disabled={invite.trim() === ""}>
          Use it
        </Button>
      </div>
    </form>
  );
}

function Strip(props: { tone: "warn" | "danger"; text: string; detail?: string | null; onRetry: () => void }) {
  const colours =
    props.tone === "warn" ? "border-warn-line bg-warn-soft text-warn" : "border-danger-line bg-danger-soft text-danger";
  return (
    <section
      aria-label="Connection to the relay"
      data-testid="link-banner"
      className={`safe-x flex shrink-0 items-center gap-3 border-b py-1.5 text-sm ${colours}`}
    >
      <div className="min-w-0 flex-1">
        <p>{props.text}</p>
        {props.detail ? <p className="truncate text-xs">{props.detail}</p> : null}
      </div>
      <ConnectionLink className="font-medium underline underline-offset-2">Find out why</ConnectionLink>
      <Button onClick={props.onRetry}>Try now</Button>
    </section>
  );
}
