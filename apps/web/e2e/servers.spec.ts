import { fileURLToPath } from "node:url";
import { expect, test } from "./harness";

const script = fileURLToPath(new URL("mcp-server.mjs", import.meta.url));

test("an MCP server is added, tested, changed and removed on the page", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  // A client that may add a server can run any command.
  expect((await world.scorel(["host", "clients", "grant", anna.clientId, "shell"])).code).toBe(0);
  await anna.open(anna.sessionPath.split("/s/")[0]);
  await anna.at("machine-settings").click();
  const server = anna.at("mcp-server");

  await test.step("it is added and tested", async () => {
    await anna.at("mcp-add").click();
    await anna.at("mcp-name").fill("lamp");
    await anna.at("mcp-command").fill(process.execPath);
    await anna.at("mcp-args").fill(script);
    await anna.at("mcp-add-value").click();
    await anna.page.getByLabel("Name 1").fill("LAMP_COLOR");
    await anna.page.getByLabel("Value of LAMP_COLOR").fill("amber");
    await anna.at("mcp-save").click();
    await expect(server).toContainText("lamp");
    await anna.page.getByRole("button", { name: "Test lamp" }).click();
    await expect(anna.at("mcp-tested")).toContainText("beam");
    await expect(anna.at("mcp-tested")).toContainText("It knows amber.");
  });

  await test.step("a value that is not shown stays when the rest changes", async () => {
    await anna.at("mcp-edit").click();
    await expect(anna.page.getByLabel("Value of LAMP_COLOR")).toHaveValue("");
    await anna.at("mcp-args").fill(`${script}\n--slow`);
    await anna.at("mcp-save").click();
    await expect(anna.at("mcp-form")).toHaveCount(0);
    await expect(server).toContainText("--slow");
    await anna.page.getByRole("button", { name: "Test lamp" }).click();
    await expect(anna.at("mcp-tested")).toContainText("It knows amber.");
  });

  await test.step("a server that does not start says why", async () => {
    await anna.at("mcp-edit").click();
    await anna.at("mcp-args").fill("/no/such/server.mjs");
    await anna.at("mcp-save").click();
    await expect(anna.at("mcp-form")).toHaveCount(0);
    await anna.page.getByRole("button", { name: "Test lamp" }).click();
    await expect(anna.at("mcp-problem")).toContainText("its last output was: Node.js");
    await expect(anna.at("mcp-tested")).toHaveCount(0);
  });

  await test.step("it is removed", async () => {
    await anna.at("mcp-remove").click();
    await anna.page.getByRole("dialog").last().getByRole("button", { name: "Remove", exact: true }).click();
    await expect(server).toHaveCount(0);
    const listed = await world.scorel(["mcp", "list", "--json"]);
    expect(listed.stdout).not.toContain("lamp");
  });
});
