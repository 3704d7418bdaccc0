import { type FormEvent, useEffect, useState } from "react";
import type { Host } from "../../api/contract";
import type { MCPServer, Requests } from "../../api/types";
import { Button } from "../../components/Button";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";
import { domainOf, linkOf } from "../shared/link";
import { useAct } from "../shared/use-act";
import { visible } from "../shared/visible";

type Begun = Requests["sign_in_mcp_server"]["response"];

export interface ServerSignInProps {
  host: Host;
  projectId?: string;
  server: MCPServer;
  /** Whether this browser may allow servers. */
  mayLoosen: boolean;
  /** Called with the result, in words. */
  onChanged: (what: string) => Promise<unknown>;
}

/** The sign-in of a server: its state, and the steps to sign in or out. */
export function ServerSignIn({ host, projectId, server, mayLoosen, onChanged }: ServerSignInProps) {
  const { name, signIn } = server;
  const [begun, setBegun] = useState<Begun | null>(null);
  const { busy, error, act } = useAct();
  if (!signIn && server.state !== "needs_sign_in" && !begun) {
    return null;
  }
  const where = projectId ? { projectId } : {};
  const signedIn = signIn?.state === "signed_in";
  const again = signIn?.state === "more_scopes";
  const start = () => act("in", async () => setBegun(await host.request("sign_in_mcp_server", { ...where, name })));
  const end = () =>
    act("out", async () => {
      try {
        await host.request("sign_out_mcp_server", { ...where, name });
      } finally {
        await onChanged(t("project.serverSignIn.signedOutOf", { name }));
      }
    });
  return (
    <section data-testid="mcp-sign-in" className="mt-2 border-line border-t pt-2">
      <p className={signedIn ? "break-words text-muted" : "break-words"}>{words(server)}</p>
      {begun ? (
        <Steps
          host={host}
          begun={begun}
          onEnded={async (problem) => {
            setBegun(null);
            if (problem === null) {
              await onChanged(t("project.serverSignIn.signedInTo", { name }));
            } else {
              await act("in", () => Promise.reject(problem instanceof Error ? problem : new Error(String(problem))));
            }
          }}
          onCancel={() => setBegun(null)}
        />
      ) : (
        <div className="mt-2 flex flex-wrap gap-2">
          {mayLoosen && !signedIn ? (
            <Button
              tone="primary"
              data-testid="mcp-login"
              aria-label={
                again ? t("project.serverSignIn.againTo", { name }) : t("project.serverSignIn.signInTo", { name })
              }
              busy={busy === "in"}
              onClick={start}
            >
              {again ? t("project.serverSignIn.again") : t("project.serverSignIn.signIn")}
            </Button>
          ) : null}
          {signIn?.issuer ? (
            <Button
              data-testid="mcp-logout"
              aria-label={t("project.serverSignIn.signOutOf", { name })}
              busy={busy === "out"}
              onClick={end}
            >
              {t("project.serverSignIn.signOut")}
            </Button>
          ) : null}
        </div>
      )}
      {error ? (
        <p role="alert" data-testid="mcp-sign-in-problem" className="mt-2 break-words text-danger">
          {error}
        </p>
      ) : null}
    </section>
  );
}

function words({ signIn }: MCPServer): string {
  const domain = visible(domainOf(signIn?.issuer ?? ""));
  switch (signIn?.state) {
    case "signed_in":
      return t("project.serverSignIn.signedInAt", { domain });
    case "more_scopes":
      return t("project.serverSignIn.moreScopes", { scopes: visible((signIn.wanted ?? []).join(", ")) || "–" });
    default:
      return t("project.serverSignIn.needed");
  }
}

interface StepsProps {
  host: Host;
  begun: Begun;
  /** Called once with why it failed, or null. */
  onEnded: (problem: unknown) => void;
  onCancel: () => void;
}

/** The link to open, and the field for the address of a browser that cannot reach the machine. */
function Steps({ host, begun, onEnded, onCancel }: StepsProps) {
  const { signInId, url, issuer, redirect, scopes } = begun;
  const [address, setAddress] = useState("");
  const { busy, error, act } = useAct();
  const link = linkOf(url);
  // biome-ignore lint/correctness/useExhaustiveDependencies: it waits for one sign-in
  useEffect(() => {
    let left = false;
    const wait = async () => {
      while (!left) {
        const { ended, problem } = await host.request("await_mcp_sign_in", { signInId });
        if (ended && !left) {
          onEnded(problem ?? null);
          return;
        }
      }
    };
    wait().catch((cause) => left || onEnded(cause));
    return () => {
      left = true;
    };
  }, [host, signInId]);
  const finish = (event: FormEvent) => {
    event.preventDefault();
    act("finish", () => host.request("finish_mcp_sign_in", { signInId, address }));
  };
  return (
    <form data-testid="mcp-sign-in-steps" className="mt-2 space-y-3" onSubmit={finish}>
      {scopes.length > 0 ? (
        <p className="break-words text-muted">
          {t("project.serverSignIn.scopes", { scopes: visible(scopes.join(", ")) })}
        </p>
      ) : null}
      {link ? (
        <a
          href={link}
          target="_blank"
          rel="noopener noreferrer"
          data-testid="mcp-sign-in-link"
          className="touchable inline-flex max-w-full items-center justify-center break-all rounded-md border border-transparent bg-accent px-3.5 py-1.5 font-medium text-on-accent text-sm hover:bg-accent-hover"
        >
          {t("project.serverSignIn.open", { domain: visible(domainOf(issuer)) })}
        </a>
      ) : (
        <p role="alert" className="text-danger">
          {t("project.serverSignIn.badLink")}
        </p>
      )}
      <TextField
        label={t("project.serverSignIn.address")}
        hint={t("project.serverSignIn.addressHint", { address: `${visible(redirect)}?` })}
        error={error}
        mono
        autoComplete="off"
        spellCheck={false}
        value={address}
        data-testid="mcp-sign-in-address"
        onChange={(e) => setAddress(e.target.value)}
      />
      <div className="flex flex-wrap gap-2">
        <Button type="submit" data-testid="mcp-sign-in-finish" busy={busy !== null} disabled={address.trim() === ""}>
          {t("project.serverSignIn.finish")}
        </Button>
        <Button tone="quiet" onClick={onCancel}>
          {t("project.serverSignIn.cancel")}
        </Button>
      </div>
    </form>
  );
}
