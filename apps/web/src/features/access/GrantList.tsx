import type { Client, Grant, HostInfo } from "../../api/types";
import { ErrorText } from "../../components/ErrorText";
import { t } from "../../i18n/access";
import { may } from "../shared/grants";
import { useAct } from "../shared/use-act";
import { Switch } from "./Switch";
import { explained, grants } from "./words";

export interface GrantListProps {
  client: Client;
  /** This browser's own access: it cannot grant more. */
  info: HostInfo | null;
  /** Whether nothing can be changed here. */
  fixed: boolean;
  onChange: (grant: Grant, given: boolean) => Promise<void>;
}

/** The grants of a client as switches, each of which takes effect at once. */
export function GrantList({ client, info, fixed, onChange }: GrantListProps) {
  const { busy, error, act } = useAct();
  return (
    <section aria-label={t("access.limits.grants")}>
      <h3 className="font-medium text-sm">{t("access.limits.grants")}</h3>
      <p className="mt-0.5 text-muted text-sm">{t("access.limits.atOnce")}</p>
      <ErrorText className="mt-2">{error}</ErrorText>
      <ul className="mt-1 divide-y divide-line">
        {grants.map((grant) => {
          const on = client.grants.includes(grant);
          const why = fixed || on ? null : whyNot(client, grant, info);
          const { label, hint } = explained(grant);
          return (
            <li key={grant}>
              <Switch
                label={label}
                hint={why ?? hint}
                on={on}
                disabled={fixed || why !== null || grant === "view" || busy !== null}
                onChange={(given) => void act(grant, () => onChange(grant, given))}
                testId={`grant-${grant}`}
              />
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/** Returns why this browser cannot give a client a grant, as far as the page knows. The host decides. */
function whyNot(client: Client, grant: Grant, info: HostInfo | null): string | null {
  if (grant === "shell" && client.projects?.length) {
    return t("access.limits.shellLimited");
  }
  if (grant === "rules" || grant === "shell") {
    return t("access.limits.onlyThere", { command: `scorel host clients grant ${client.id} ${grant}` });
  }
  return may(info, grant) ? null : t("access.limits.notOwn");
}
