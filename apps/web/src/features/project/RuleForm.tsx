import { type FormEvent, useState } from "react";
import { ApiError, type Host } from "../../api/contract";
import { ApiKind, type Requests } from "../../api/types";
import { Button } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";
import { ConfirmSheet } from "../shared/ConfirmSheet";
import { sentence } from "../shared/errors";
import { useAct } from "../shared/use-act";

type NewRule = Requests["add_rule"]["request"];

const kinds = [
  {
    value: "allow",
    get label() {
      return t("project.ruleForm.allow");
    },
  },
  {
    value: "ask",
    get label() {
      return t("project.ruleForm.ask");
    },
  },
  {
    value: "deny",
    get label() {
      return t("project.ruleForm.deny");
    },
  },
];

const scopes = [
  {
    value: "project",
    get label() {
      return t("project.ruleForm.inThisProject");
    },
  },
  {
    value: "user",
    get label() {
      return t("project.ruleForm.inEveryProject");
    },
  },
];

export interface RuleFormProps {
  host: Host;
  projectId: string;
  /** Whether rules for all projects are refused. */
  limited: boolean;
  onAdded: (rule: string) => Promise<unknown>;
}

/** Adds a rule. The host reports what is wrong with it, or what it allows: then it must be confirmed. */
export function RuleForm({ host, projectId, limited, onAdded }: RuleFormProps) {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<string>("allow");
  const [scope, setScope] = useState("project");
  const [opens, setOpens] = useState<{ request: NewRule; warning: string } | null>(null);
  const { busy, error, act } = useAct();
  const rule = text.trim();
  const add = async (request: NewRule) => {
    await host.request("add_rule", request);
    setText("");
    await onAdded(request.rule);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rule === "") {
      return;
    }
    void act("add", async () => {
      const where = scope === "project" ? { projectId } : {};
      const request = { rule, kind: kind as NewRule["kind"], ...where };
      try {
        await add(request);
      } catch (cause) {
        if (!(cause instanceof ApiError) || cause.kind !== ApiKind.unconfirmed) {
          throw cause;
        }
        setOpens({ request, warning: sentence(cause) });
      }
    });
  };
  return (
    <>
      <form onSubmit={submit} noValidate className="mt-4 rounded-md border border-line p-3">
        <TextField
          label={t("project.ruleForm.newRule")}
          mono
          data-testid="rule-text"
          value={text}
          placeholder={t("project.ruleForm.bashGoTest")}
          error={error}
          hint={t("project.ruleForm.aToolOrATool")}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
        />
        <div className="mt-3 flex flex-wrap items-center gap-2">
          <Select
            label={t("project.ruleForm.action")}
            value={kind}
            options={kinds}
            onChange={(event) => setKind(event.target.value)}
          />
          <Select
            label={t("project.ruleForm.appliesTo")}
            value={scope}
            options={limited ? scopes.slice(0, 1) : scopes}
            onChange={(event) => setScope(event.target.value)}
          />
          <Button type="submit" data-testid="add-rule" busy={busy !== null} disabled={rule === ""} className="ml-auto">
            <PlusIcon /> {t("project.ruleForm.add")}
          </Button>
        </div>
        {limited ? <p className="mt-2 text-muted text-sm">{t("project.ruleForm.limited")}</p> : null}
      </form>
      {opens ? (
        <ConfirmSheet
          title={t("project.ruleForm.addThisRule")}
          confirm={t("project.ruleForm.addRule")}
          onConfirm={() => add({ ...opens.request, confirm: opens.request.rule })}
          onClose={() => setOpens(null)}
        >
          <p
            dir="ltr"
            data-testid="confirm-rule"
            className="mb-3 break-words font-mono text-ink [overflow-wrap:anywhere]"
          >
            {opens.request.rule}
          </p>
          <p className="[overflow-wrap:anywhere]">{opens.warning}</p>
          <p className="mt-3">
            {opens.request.projectId ? t("project.ruleForm.itAppliesHere") : t("project.ruleForm.itAppliesEverywhere")}
          </p>
        </ConfirmSheet>
      ) : null}
    </>
  );
}
