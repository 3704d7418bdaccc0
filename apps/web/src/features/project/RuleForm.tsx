import { type FormEvent, useState } from "react";
import type { Host } from "../../api/contract";
import type { PermissionRule } from "../../api/types";
import { Button } from "../../components/Button";
import { PlusIcon } from "../../components/icons";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { useAct } from "./use-act";

const kinds = [
  { value: "allow", label: "Allow" },
  { value: "ask", label: "Ask" },
  { value: "deny", label: "Deny" },
];

const scopes = [
  { value: "project", label: "in this project" },
  { value: "user", label: "in every project" },
];

export interface RuleFormProps {
  host: Host;
  projectId: string;
  onAdded: () => Promise<unknown>;
}

/** Adds a rule. What is wrong with it, the machine says. */
export function RuleForm({ host, projectId, onAdded }: RuleFormProps) {
  const [text, setText] = useState("");
  const [kind, setKind] = useState<string>("allow");
  const [scope, setScope] = useState("project");
  const { busy, error, act } = useAct();
  const rule = text.trim();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (rule === "") return;
    void act("add", async () => {
      const where = scope === "project" ? { projectId } : {};
      await host.request("add_rule", { rule, kind: kind as PermissionRule["kind"], ...where });
      await onAdded();
      setText("");
    });
  };
  return (
    <form onSubmit={submit} noValidate className="mt-4 rounded-md border border-line p-3">
      <TextField
        label="New rule"
        mono
        data-testid="rule-text"
        value={text}
        placeholder="bash(go test *)"
        error={error}
        hint="A tool, or a tool and what it is about; * stands for anything."
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        onChange={(event) => setText(event.target.value)}
      />
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <Select label="What it does" value={kind} options={kinds} onChange={(event) => setKind(event.target.value)} />
        <Select
          label="Where it holds"
          value={scope}
          options={scopes}
          onChange={(event) => setScope(event.target.value)}
        />
        <Button type="submit" data-testid="add-rule" busy={busy !== null} disabled={rule === ""} className="ml-auto">
          <PlusIcon /> Add
        </Button>
      </div>
    </form>
  );
}
