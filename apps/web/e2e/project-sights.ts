import type { Sight } from "./sight";

/** The settings of a project: its servers, agents, skills, rules and notes. */
export const projectSights: Sight[] = [
  {
    name: "servers",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("rule").first().waitFor();
    },
  },
  {
    name: "servertest",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      for (const name of ["github", "weather"]) {
        await page.getByRole("button", { name: `Test ${name}` }).click();
      }
      await page.getByTestId("mcp-problem").waitFor();
      await page.getByTestId("mcp-tested").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "serversignin",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("mcp-login").first().click();
      await page.getByTestId("mcp-sign-in-link").waitFor();
      await page.getByTestId("mcp-sign-in-finish").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "serverform",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("mcp-add").click();
      await page.getByTestId("mcp-name").fill("docs");
      await page.getByTestId("mcp-command").fill("npx");
      await page.getByTestId("mcp-args").fill("-y\n@lighthouse/docs-mcp");
      await page.getByTestId("mcp-add-value").click();
      await page.getByLabel("Name 1").fill("DOCS_TOKEN");
      await page.getByTestId("mcp-save").click();
      await page.getByRole("alert").waitFor();
      await page.getByTestId("mcp-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "transcripts",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("transcripts-from").selectOption("codex");
      await page.getByTestId("transcript").last().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "skills",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("skill").last().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "agents",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      const last = page.getByTestId("agent").last();
      await last.getByRole("button", { name: "Preview" }).click();
      await last.scrollIntoViewIfNeeded();
      await page.getByTestId("agent-prompt").waitFor();
    },
  },
  {
    name: "agentform",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("agent-edit").last().click();
      await page.getByTestId("agent-save").click();
      await page.getByTestId("agent-save").scrollIntoViewIfNeeded();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "rules",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("rule").last().scrollIntoViewIfNeeded();
      await page.getByTestId("rule-text").fill("bsh(ls)");
      await page.getByTestId("add-rule").click();
      await page.getByRole("alert").waitFor();
    },
  },
  {
    name: "memory",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("skill-show").first().click();
      await page.getByTestId("note-show").last().click();
      await page.getByTestId("note-content").waitFor();
      await page.getByTestId("note-edit").first().click();
      await page.getByTestId("note-text").fill("Run make test before each commit.");
      await page.getByTestId("note-save").click();
      await page.getByTestId("note-conflict").waitFor();
    },
  },
];
