import type { MCPDraft, MCPServer, MCPSetting, MCPValue } from "../../api/types";

/** A variable or header in the form. */
export interface ValueRow {
  id: number;
  name: string;
  value: string;
  /** Whether the server has a hidden value; an empty field keeps it. */
  saved: boolean;
}

export interface ServerFields {
  kind: "command" | "url";
  command: string;
  /** One per line. */
  args: string;
  cwd: string;
  env: ValueRow[];
  url: string;
  headers: ValueRow[];
}

export function fieldsOf(server: MCPServer | null): ServerFields {
  return {
    kind: server?.url ? "url" : "command",
    command: server?.command ?? "",
    args: (server?.args ?? []).join("\n"),
    cwd: server?.cwd ?? "",
    env: rowsOf(server?.env),
    url: server?.url ?? "",
    headers: rowsOf(server?.headers),
  };
}

function rowsOf(settings: readonly MCPSetting[] = []): ValueRow[] {
  return settings.map(({ name, value, secret = false }, id) => ({ id, name, value, saved: secret }));
}

export function draftOf(fields: ServerFields): MCPDraft {
  if (fields.kind === "url") {
    return { url: fields.url.trim(), headers: valuesOf(fields.headers) };
  }
  const args = fields.args.split("\n");
  // An empty last line ends the text; it is not an argument.
  while (args.at(-1) === "") {
    args.pop();
  }
  return { command: fields.command.trim(), args, cwd: fields.cwd.trim(), env: valuesOf(fields.env) };
}

function valuesOf(rows: readonly ValueRow[]): MCPValue[] {
  return rows
    .filter(({ name, value }) => name.trim() !== "" || value !== "")
    .map(({ name, value, saved }) =>
      saved && value === "" ? { name: name.trim(), keep: true } : { name: name.trim(), value },
    );
}
