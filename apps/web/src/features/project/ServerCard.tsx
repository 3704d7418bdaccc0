import type { MCPServer, MCPSetting } from "../../api/types";
import { Badge, type Tone } from "../../components/Badge";
import { Button } from "../../components/Button";
import { Card } from "../../components/Card";
import { t } from "../../i18n/project";
import { Lines, Part, Parts } from "../shared/ReviewParts";
import { visible } from "../shared/visible";
import { ServerActions, type ServerActionsProps } from "./ServerActions";
import { ServerSignIn } from "./ServerSignIn";

const states: Record<MCPServer["state"], { text: string; tone: Tone }> = {
  disabled: {
    get text() {
      return t("project.serverCard.off");
    },
    tone: "neutral",
  },
  untrusted: {
    get text() {
      return t("project.serverCard.notTrusted");
    },
    tone: "neutral",
  },
  needs_consent: {
    get text() {
      return t("project.serverCard.needsYou");
    },
    tone: "warn",
  },
  denied: {
    get text() {
      return t("project.serverCard.denied");
    },
    tone: "danger",
  },
  idle: {
    get text() {
      return t("project.serverCard.allowed");
    },
    tone: "neutral",
  },
  starting: {
    get text() {
      return t("project.serverCard.starting");
    },
    tone: "accent",
  },
  ready: {
    get text() {
      return t("project.serverCard.running");
    },
    tone: "accent",
  },
  failed: {
    get text() {
      return t("project.serverCard.failed");
    },
    tone: "danger",
  },
  needs_sign_in: {
    get text() {
      return t("project.serverCard.needsSignIn");
    },
    tone: "warn",
  },
};

/** States that the card explains by itself. */
const silent: MCPServer["state"][] = ["needs_consent", "untrusted", "needs_sign_in"];

export interface ServerCardProps extends ServerActionsProps {
  onDecide: (allow: boolean) => void;
  /** Called with the result of signing in or out, in words. */
  onSignIn: (what: string) => Promise<unknown>;
}

/** A server: its command or address, its state, and the buttons to allow it. */
export function ServerCard({ onDecide, onSignIn, ...rest }: ServerCardProps) {
  const { server, busy } = rest;
  const { state } = server;
  const shown = states[state] ?? { text: state, tone: "neutral" };
  // A server of the host's own configuration needs no consent, and one of an untrusted folder cannot get it.
  const asks = Boolean(server.hash) && state !== "untrusted" && state !== "disabled";
  const allowed = asks && state !== "needs_consent" && state !== "denied";
  return (
    <Card
      data-testid="mcp-server"
      data-state={state}
      tone={state === "needs_consent" ? "warn" : "plain"}
      className="p-3 text-sm"
    >
      <div className="flex items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">{server.name}</span>
        <span className="caption text-faint">{server.source}</span>
        <Badge tone={shown.tone}>{shown.text}</Badge>
      </div>
      <What server={server} />
      {server.reason && !silent.includes(state) && !server.disabled ? (
        <p className="mt-2 break-words text-muted">{server.reason}</p>
      ) : null}
      {server.tools.length > 0 ? (
        <p className="mt-2 break-words text-muted">
          {t("project.serverCard.tools", { tools: server.tools.join(", ") })}
        </p>
      ) : null}
      {asks ? (
        <div className="mt-3 flex flex-wrap gap-2">
          {allowed ? null : (
            <Button
              data-testid="mcp-allow"
              tone="primary"
              aria-label={t("project.serverCard.allowNamed", { name: server.name })}
              busy={busy}
              onClick={() => onDecide(true)}
            >
              {t("project.serverCard.allowServer")}
            </Button>
          )}
          {state === "denied" ? null : (
            <Button
              data-testid="mcp-refuse"
              aria-label={
                allowed
                  ? t("project.serverCard.stopAllowingNamed", { name: server.name })
                  : t("project.serverCard.denyNamed", { name: server.name })
              }
              busy={busy}
              onClick={() => onDecide(false)}
            >
              {allowed ? t("project.serverCard.stopAllowing") : t("project.serverCard.deny")}
            </Button>
          )}
        </div>
      ) : null}
      <ServerSignIn {...rest} onChanged={onSignIn} />
      <ServerActions {...rest} />
    </Card>
  );
}

/** Everything that a person consents to. */
function What({ server }: { server: MCPServer }) {
  const { command, args, cwd, env, url, headers, sandbox } = server;
  if (!command && !url) {
    return <p className="mt-2 break-all font-mono text-xs">{visible(server.shown)}</p>;
  }
  return (
    <Parts>
      {command ? <Part name={t("project.serverCard.command")}>{visible(command)}</Part> : null}
      {args?.length ? (
        <Part name={t("project.serverCard.arguments")}>
          {<Lines lines={args.map((arg) => (arg === "" ? '""' : visible(arg)))} />}
        </Part>
      ) : null}
      {cwd ? <Part name={t("project.serverCard.folder")}>{visible(cwd)}</Part> : null}
      {sandbox ? (
        <Part name={t("project.serverCard.sandbox")}>
          {sandbox === "none" ? t("project.serverCard.noneItCanDoWhat") : visible(sandbox)}
        </Part>
      ) : null}
      {url ? <Part name={t("project.serverCard.address")}>{visible(url)}</Part> : null}
      {env?.length ? (
        <Part name={t("project.serverCard.variables")}>{<Lines lines={env.map(settingText)} />}</Part>
      ) : null}
      {headers?.length ? (
        <Part name={t("project.serverCard.headers")}>{<Lines lines={headers.map(settingText)} />}</Part>
      ) : null}
    </Parts>
  );
}

function settingText({ name, value, secret }: MCPSetting): string {
  return `${visible(name)} = ${secret ? t("project.serverCard.notShown") : visible(value)}`;
}
