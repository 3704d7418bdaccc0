import { fileURLToPath } from "node:url";
import { expect, test } from "./harness";
import type { Visitor } from "./visitor";

const script = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

/** Opens the settings of the only project. */
async function openProject(visitor: Visitor): Promise<void> {
  await visitor.open(visitor.sessionPath.split("/s/")[0]);
  await visitor.at("project-settings").click();
  await expect(visitor.at("project-sheet")).toBeVisible();
}

test("agents of a project are added, changed, disabled and deleted on the page", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await openProject(anna);
  await anna.at("trust-toggle").click();
  const agent = anna.at("agent").filter({ hasText: "keeper" });

  await test.step("one is added", async () => {
    await anna.at("new-agent").click();
    await expect(anna.at("agent-save")).toBeDisabled();
    await anna.at("agent-name").fill("keeper");
    await anna.at("agent-description").fill("Keeps the lamp");
    await anna.at("agent-prompt-text").fill("Keep the lamp lit.");
    await anna.page.getByLabel("Model calls per task").fill("many");
    await anna.at("agent-save").click();
    await expect(anna.at("agent-form").getByRole("alert")).toBeVisible();
    await anna.page.getByLabel("Model calls per task").fill("3");
    await anna.at("agent-save").click();
    await expect(agent).toContainText("Keeps the lamp");
    expect(world.read(".scorel/agents/keeper.md")).toContain("Keep the lamp lit.");
  });

  await test.step("it is changed", async () => {
    await agent.getByTestId("agent-edit").click();
    await expect(anna.at("agent-prompt-text")).toHaveValue(/Keep the lamp lit\./);
    await anna.at("agent-description").fill("Keeps the great lamp");
    await anna.at("agent-save").click();
    await expect(anna.at("agent-form")).toHaveCount(0);
    await expect(agent).toContainText("Keeps the great lamp");
    expect(world.read(".scorel/agents/keeper.md")).toContain("great lamp");
  });

  await test.step("it is disabled and enabled", async () => {
    await agent.getByTestId("agent-toggle").click();
    await expect(agent).toContainText("disabled");
    await expect(agent.getByTestId("agent-session")).toHaveCount(0);
    await agent.getByTestId("agent-toggle").click();
    await expect(agent.getByTestId("agent-session")).toBeVisible();
  });

  await test.step("it is deleted", async () => {
    await agent.getByTestId("agent-edit").click();
    await anna.at("agent-delete").click();
    await anna.page.getByRole("dialog").last().getByRole("button", { name: "Delete", exact: true }).click();
    await expect(agent).toHaveCount(0);
  });
});

test("a server of a project is added, disabled and removed on the page", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  expect((await world.scorel(["host", "clients", "grant", anna.clientId, "shell"])).code).toBe(0);
  await openProject(anna);
  await anna.at("trust-toggle").click();
  const server = anna.at("mcp-server");
  await anna.at("mcp-add").click();
  await anna.at("mcp-name").fill("lamp");
  await anna.at("mcp-command").fill(process.execPath);
  await anna.at("mcp-args").fill(script);
  await anna.at("mcp-save").click();
  await expect(server).toContainText("lamp");
  expect(world.read(".mcp.json")).toContain(script);
  await anna.at("mcp-toggle").click();
  await expect(server).toHaveAttribute("data-state", "disabled");
  await anna.at("mcp-toggle").click();
  await expect(server).not.toHaveAttribute("data-state", "disabled");
  await anna.at("mcp-remove").click();
  await anna.page.getByRole("dialog").last().getByRole("button", { name: "Remove", exact: true }).click();
  await expect(server).toHaveCount(0);
  expect(world.read(".mcp.json")).not.toContain(script);
});

test("a limited browser is offered nothing for all projects, and shown why", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  const added = await world.scorel(["permission", "add", "bash(rm *)", "--deny", "--user"]);
  expect(added, added.stderr).toMatchObject({ code: 0 });
  const limited = await world.scorel(["host", "clients", "limit", anna.clientId, "--project", world.project]);
  expect(limited, limited.stderr).toMatchObject({ code: 0 });
  await openProject(anna);
  const sheet = anna.at("project-sheet");

  await test.step("an agent is saved for this project only", async () => {
    await anna.at("new-agent").click();
    const scope = anna.at("agent-form").getByLabel("Save to");
    await expect(scope.locator("option")).toHaveText(["Save for this project"]);
    await expect(anna.at("agent-form")).toContainText("cannot save an agent for all projects");
    await anna.at("agent-form").getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("a rule is for this project, and one for all stays", async () => {
    await expect(sheet.getByLabel("Applies to").locator("option")).toHaveText(["in this project"]);
    await expect(sheet).toContainText("cannot add or remove rules for every project");
    const rule = anna.at("rules-user").getByTestId("rule");
    await expect(rule).toContainText("bash(rm *)");
    await expect(rule.getByTestId("remove-rule")).toHaveCount(0);
  });

  await test.step("a note is for this project", async () => {
    await anna.at("new-note").click();
    await expect(anna.at("note-form")).toContainText("the note applies to this project");
    await expect(anna.at("note-form").getByLabel("Applies to")).toHaveCount(0);
  });

  await test.step("no server can be added", async () => {
    await expect(anna.at("mcp-add")).toHaveCount(0);
    await expect(sheet).toContainText("To add or change one here");
  });
});
