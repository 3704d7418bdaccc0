// The table of contents. A page of docs/ is in it, or in `elsewhere`; the build fails on one that is in neither.

/** Groups of pages: the file in docs/ without .md, and its short name in the navigation. */
export const groups = [
  {
    title: "Start",
    pages: [
      ["quickstart", "Quickstart"],
      ["quickstart.zh-CN", "快速开始"],
      ["install", "Install"],
      ["pairing", "Pairing"],
      ["phone", "On a phone"],
      ["paths", "Paths to a machine"],
      ["troubleshooting", "Troubleshooting"],
    ],
  },
  {
    title: "Use",
    pages: [
      ["terminal", "Terminal"],
      ["editors", "Editors"],
      ["permissions", "Permissions"],
      ["models", "Models and prices"],
      ["agents", "Agents and subagents"],
      ["backends", "Other agents"],
      ["skills-and-mcp", "Skills and MCP"],
      ["extensions", "Extensions"],
      ["hooks", "Hooks"],
      ["schedules", "Schedules"],
      ["notifications", "Notifications"],
      ["channels", "Channels"],
      ["grants", "Grants and guests"],
      ["moving", "Moving sessions"],
      ["importing", "Importing"],
    ],
  },
  {
    title: "Run your own",
    pages: [
      ["self-hosting", "Your own relay"],
      ["operations", "Operations"],
      ["services", "Services"],
      ["reverse-proxies", "Reverse proxies"],
      ["kubernetes", "Kubernetes"],
      ["backup", "Backup"],
    ],
  },
  {
    title: "Security",
    pages: [
      ["trust", "What the relay can see"],
      ["threat-model", "Threat model"],
      ["SECURITY", "Reporting"],
    ],
  },
  {
    title: "Reference",
    pages: [
      ["cli", "Commands"],
      ["configuration", "config.toml"],
      ["relay-configuration", "relay.toml"],
      ["environment", "Environment variables"],
      ["tools", "Tools"],
      ["http", "HTTP"],
      ["http-reference", "Requests and types"],
      ["protocol", "Protocol"],
      ["protocol-reference", "Frames"],
      ["session-format", "Session files"],
      ["session-reference", "Entries"],
      ["process-events", "Process events"],
    ],
  },
];

/** Pages for people who change scorel: they are read in the repository. */
export const elsewhere = ["architecture", "benchmarks", "dependencies", "internals", "releasing", "session-index"];

/** Where the files are that are not on the site. */
export const repository = "https://github.com/scorel/scorel/blob/main/";

/** The address of a page below /docs/. A translation is in a folder of its own: quickstart.zh-CN is at zh/quickstart. */
export function slugOf(name) {
  const translation = /^(.*)\.zh-CN$/.exec(name);
  return translation ? `zh/${translation[1]}` : name.toLowerCase();
}
