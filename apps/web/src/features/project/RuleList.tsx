import { useState } from "react";
import type { Host } from "../../api/contract";
import type { PermissionRule } from "../../api/types";
import { Badge, type Tone } from "../../components/Badge";
import { IconButton } from "../../components/Button";
import { TrashIcon } from "../../components/icons";
import { Skeleton } from "../../components/Skeleton";
import { t } from "../../i18n/project";
import { isLimited } from "../shared/grants";
import { useHostData } from "../shared/host-data";
import { useHostQuery } from "../shared/host-queries";
import { Section } from "../shared/Section";
import { useAct } from "../shared/use-act";
import { visible } from "../shared/visible";
import { withHelp } from "../shared/with-help";
import { RuleForm } from "./RuleForm";

const scopes: { scope: PermissionRule["scope"]; title: string; none: string }[] = [
  {
    scope: "project",
    get title() {
      return t("project.ruleList.inThisProject");
    },
    get none() {
      return t("project.ruleList.noneAnsweringAlwaysAllowAdds");
    },
  },
  {
    scope: "user",
    get title() {
      return t("project.ruleList.inEveryProject");
    },
    get none() {
      return t("project.ruleList.noneTheyCanBeSet");
    },
  },
];

const tones: Record<PermissionRule["kind"], Tone> = { allow: "accent", ask: "warn", deny: "danger" };

const keyOf = (rule: PermissionRule) => `${rule.scope} ${rule.source} ${rule.kind} ${rule.rule}`;

export interface RuleListProps {
  host: Host;
  projectId: string;
  mayManage: boolean;
}

/** The rules that judge tool calls in a project. Rules that people added can be removed. */
export function RuleList({ host, projectId, mayManage }: RuleListProps) {
  const { data, error, refetch } = useHostQuery(host, "list_rules", { projectId });
  const { busy, error: refused, act } = useAct();
  const [done, setDone] = useState<string | null>(null);
  const limited = isLimited(useHostData(host).info);
  const mayRemove = ({ scope, source }: PermissionRule) =>
    mayManage && source === "permissions.json" && !(limited && scope === "user");
  const remove = (rule: PermissionRule) =>
    act(keyOf(rule), async () => {
      setDone(null);
      await host.request("remove_rule", {
        rule: rule.rule,
        kind: rule.kind,
        ...(rule.projectId ? { projectId: rule.projectId } : {}),
      });
      await refetch();
      setDone(t("project.ruleList.removed", { text: visible(rule.rule) }));
    });
  const added = async (rule: string) => {
    setDone(null);
    await refetch();
    setDone(t("project.ruleList.added", { text: visible(rule) }));
  };
  return (
    <Section title={t("project.ruleList.rules")} error={refused ?? (error ? withHelp(error) : null)} done={done}>
      <p className="mt-1 text-muted text-sm">{t("project.ruleList.denyBeatsAskAskBeats")}</p>
      {data ? null : error ? null : (
        <Skeleton label={t("project.ruleList.loadingTheRules")} rows={3} className="mt-2" />
      )}
      {data
        ? scopes.map(({ scope, title, none }) => {
            const rules = data.rules.filter((rule) => rule.scope === scope);
            return (
              <div key={scope} data-testid={`rules-${scope}`} className="mt-3">
                <h4 className="caption text-faint">{title}</h4>
                {rules.length === 0 ? <p className="mt-1 text-muted text-sm">{none}</p> : null}
                <ul className="divide-y divide-line">
                  {rules.map((rule) => (
                    <li key={keyOf(rule)}>
                      <RuleRow
                        rule={rule}
                        busy={busy === keyOf(rule)}
                        onRemove={mayRemove(rule) ? () => remove(rule) : null}
                      />
                    </li>
                  ))}
                </ul>
              </div>
            );
          })
        : null}
      {data && mayManage ? <RuleForm host={host} projectId={projectId} limited={limited} onAdded={added} /> : null}
    </Section>
  );
}

interface RuleRowProps {
  rule: PermissionRule;
  busy: boolean;
  /** null if it cannot be removed from here. */
  onRemove: (() => void) | null;
}

const kindText: Partial<Record<string, () => string>> = {
  allow: () => t("project.ruleForm.allow"),
  ask: () => t("project.ruleForm.ask"),
  deny: () => t("project.ruleForm.deny"),
};

function RuleRow({ rule, busy, onRemove }: RuleRowProps) {
  const text = visible(rule.rule);
  return (
    <div data-testid="rule" data-kind={rule.kind} className="flex min-h-11 items-center gap-2.5 py-1">
      <Badge tone={tones[rule.kind] ?? "neutral"}>{kindText[rule.kind]?.() ?? rule.kind}</Badge>
      <span className="min-w-0 flex-1">
        <code className="break-all font-mono text-sm">{text}</code>
        {rule.problem ? (
          <span className="block break-words text-danger text-xs">
            {t("project.ruleList.ignored", { problem: rule.problem })}
          </span>
        ) : null}
      </span>
      {onRemove ? (
        <IconButton
          label={t("project.ruleList.removeTheRule", { text })}
          data-testid="remove-rule"
          aria-disabled={busy}
          onClick={busy ? undefined : onRemove}
        >
          <TrashIcon />
        </IconButton>
      ) : rule.source === "config.toml" ? (
        <span className="caption text-faint">{t("project.ruleList.configToml")}</span>
      ) : null}
    </div>
  );
}
