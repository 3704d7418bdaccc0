import { useId, useState } from "react";
import type { Host } from "../../api/contract";
import type { MCPServer } from "../../api/types";
import { Button, IconButton } from "../../components/Button";
import { PlusIcon, TrashIcon } from "../../components/icons";
import { Select } from "../../components/Select";
import { TextField } from "../../components/TextField";
import { t } from "../../i18n/project";
import { rich } from "../../i18n/rich";
import { EntryForm } from "../shared/EntryForm";
import { useAct } from "../shared/use-act";
import { draftOf, fieldsOf, type ServerFields, type ValueRow } from "./server-draft";

export interface ServerFormProps {
  host: Host;
  projectId?: string;
  /** null for a new one. */
  server: MCPServer | null;
  /** Called with the result, in words. */
  onDone: (what: string) => Promise<unknown>;
  onCancel: () => void;
}

/** The syntax for a variable of the host in a value. */
const variable = "\u0024{NAME}";

const kinds = [
  {
    value: "command",
    get label() {
      return t("project.serverForm.startACommand");
    },
  },
  {
    value: "url",
    get label() {
      return t("project.serverForm.contactAnAddress");
    },
  },
];

/** Adds or edits an MCP server. The host validates it. */
export function ServerForm({ host, projectId, server, onDone, onCancel }: ServerFormProps) {
  const [name, setName] = useState(server?.name ?? "");
  const [fields, setFields] = useState(() => fieldsOf(server));
  const { busy, error, act } = useAct();
  const set = (change: Partial<ServerFields>) => setFields((before) => ({ ...before, ...change }));
  const where = projectId ? { projectId } : {};
  const save = () =>
    act("save", async () => {
      const version = server?.version ? { version: server.version } : {};
      await host.request("save_mcp_server", { ...where, name: name.trim(), ...version, server: draftOf(fields) });
      await onDone(t("project.serverForm.saved", { name: name.trim() }));
    });
  const command = fields.kind === "command";
  return (
    <EntryForm
      testId="mcp"
      isNew={server === null}
      name={name}
      namePlaceholder={t("project.serverForm.nameExample")}
      onName={setName}
      error={error}
      busy={busy !== null}
      ready={name.trim() !== "" && (command ? fields.command : fields.url).trim() !== ""}
      onSave={save}
      onCancel={onCancel}
    >
      <Select
        label={t("project.serverForm.kind")}
        value={fields.kind}
        options={kinds}
        data-testid="mcp-kind"
        onChange={(e) => set({ kind: e.target.value === "url" ? "url" : "command" })}
      />
      {command ? (
        <CommandFields fields={fields} autoFocus={server !== null} onChange={set} />
      ) : (
        <TextField
          label={t("project.serverCard.address")}
          mono
          type="url"
          value={fields.url}
          placeholder={t("project.serverForm.addressExample")}
          data-testid="mcp-url"
          autoFocus={server !== null}
          onChange={(e) => set({ url: e.target.value })}
        />
      )}
      <ValueRows
        key={fields.kind}
        title={command ? t("project.serverCard.variables") : t("project.serverCard.headers")}
        add={command ? t("project.serverForm.addAVariable") : t("project.serverForm.addAHeader")}
        rows={command ? fields.env : fields.headers}
        onChange={(rows) => set(command ? { env: rows } : { headers: rows })}
      />
      <p className="text-muted text-sm">
        {rich(
          (values) =>
            projectId ? t("project.serverForm.inTheRepository", values) : t("project.serverForm.notShownAgain", values),
          { variable: <code className="font-mono">{variable}</code> },
        )}
      </p>
    </EntryForm>
  );
}

interface CommandFieldsProps {
  fields: ServerFields;
  autoFocus: boolean;
  onChange: (change: Partial<ServerFields>) => void;
}

function CommandFields({ fields, autoFocus, onChange }: CommandFieldsProps) {
  const argsId = useId();
  return (
    <>
      <TextField
        label={t("project.serverCard.command")}
        mono
        value={fields.command}
        placeholder={t("project.serverForm.commandExample")}
        data-testid="mcp-command"
        autoFocus={autoFocus}
        autoCapitalize="off"
        spellCheck={false}
        onChange={(e) => onChange({ command: e.target.value })}
      />
      <div>
        <label htmlFor={argsId} className="mb-1 block font-medium text-sm">
          {t("project.serverForm.arguments")}
        </label>
        <textarea
          id={argsId}
          rows={3}
          value={fields.args}
          data-testid="mcp-args"
          autoCapitalize="off"
          spellCheck={false}
          onChange={(e) => onChange({ args: e.target.value })}
          className="block w-full rounded-md border border-line-strong bg-surface px-3 py-1.5 font-mono text-base placeholder:text-faint sm:text-sm"
        />
      </div>
      <TextField
        label={t("project.serverCard.folder")}
        mono
        value={fields.cwd}
        placeholder={t("project.serverForm.folderOfTheProject")}
        autoCapitalize="off"
        spellCheck={false}
        onChange={(e) => onChange({ cwd: e.target.value })}
      />
    </>
  );
}

interface ValueRowsProps {
  title: string;
  add: string;
  rows: ValueRow[];
  onChange: (rows: ValueRow[]) => void;
}

/** Names and values. A saved value is hidden, and kept while its field is empty. */
function ValueRows({ title, add, rows, onChange }: ValueRowsProps) {
  const change = (id: number, to: Partial<ValueRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...to } : row)));
  const next = Math.max(-1, ...rows.map(({ id }) => id)) + 1;
  return (
    <fieldset>
      <legend className="mb-1 font-medium text-sm">{title}</legend>
      <ul className="space-y-2">
        {rows.map(({ id, name, value, saved }, i) => (
          <li key={id} data-testid="mcp-value" className="flex items-end gap-1">
            <div className="grid min-w-0 flex-1 gap-2 sm:grid-cols-[2fr_3fr]">
              <ValueField
                label={t("project.serverForm.nameOf", { number: i + 1 })}
                value={name}
                placeholder={t("project.agentForm.name")}
                readOnly={saved}
                onChange={(text) => change(id, { name: text })}
              />
              <ValueField
                label={name ? t("project.serverForm.valueOf", { name }) : t("project.serverForm.value")}
                value={value}
                placeholder={saved ? t("project.serverForm.keepsItsValue") : t("project.serverForm.value")}
                onChange={(text) => change(id, { value: text })}
              />
            </div>
            <IconButton
              label={t("project.serverForm.removeValue", { name: name || String(i + 1) })}
              onClick={() => onChange(rows.filter((row) => row.id !== id))}
            >
              <TrashIcon />
            </IconButton>
          </li>
        ))}
      </ul>
      <Button
        tone="quiet"
        className="-ml-3 mt-1 text-xs"
        data-testid="mcp-add-value"
        onClick={() => onChange([...rows, { id: next, name: "", value: "", saved: false }])}
      >
        <PlusIcon /> {add}
      </Button>
    </fieldset>
  );
}

interface ValueFieldProps {
  label: string;
  value: string;
  placeholder: string;
  readOnly?: boolean;
  onChange: (text: string) => void;
}

function ValueField({ label, value, placeholder, readOnly = false, onChange }: ValueFieldProps) {
  return (
    <input
      aria-label={label}
      value={value}
      placeholder={placeholder}
      readOnly={readOnly}
      autoComplete="off"
      autoCapitalize="off"
      spellCheck={false}
      onChange={(e) => onChange(e.target.value)}
      className="touchable block w-full min-w-0 rounded-md border border-line-strong bg-surface px-3 py-1.5 font-mono text-base placeholder:font-sans placeholder:text-faint read-only:border-line read-only:bg-sunken sm:text-sm"
    />
  );
}
