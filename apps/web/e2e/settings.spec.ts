import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "./harness";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

// The reasoning model is never called: only its choices are checked.
const config = `
default_model = "demo"
[providers.demo]
type = "demo"
[models.demo]
provider = "demo"
[providers.away]
type = "openai-responses"
base_url = "http://127.0.0.1:9/v1"
[models.thinker]
provider = "away"
id = "gpt-5-mini"
thinking = "low"
[permissions]
deny = ["bash(rm *)"]
`;

test("the page and its worker speak Chinese once that is chosen", async ({ visitor }) => {
  const anna = await visitor(phone);
  await anna.open("/pair");
  await expect(anna.page.locator("html")).toHaveAttribute("lang", "en");
  await anna.page.getByRole("button", { name: "Change the relay address" }).click();
  await anna.at("settings-language").selectOption("中文");
  await expect(anna.page.getByRole("heading", { name: "连接一台机器" })).toBeVisible();
  await expect(anna.page.locator("html")).toHaveAttribute("lang", "zh-CN");
  await test.step("in what the worker found out too", async () => {
    await anna.at("pair-code-input").fill("7K3M-9QXR-2BTD");
    await anna.at("pair-redeem").click();
    await expect(anna.page.getByRole("alert")).toContainText("现在没有机器显示此配对码");
  });
  await test.step("also at the next visit, and until another language is chosen", async () => {
    await anna.page.reload();
    await anna.page.getByRole("button", { name: "更改中继地址" }).click();
    await anna.at("settings-language").selectOption("English");
    await expect(anna.page.getByRole("heading", { name: "Connect a machine" })).toBeVisible();
    await expect(anna.page.locator("html")).toHaveAttribute("lang", "en");
  });
});

test("the page keeps the chosen theme, whatever the system prefers", async ({ visitor }) => {
  const anna = await visitor({ ...phone, colorScheme: "light" });
  const background = () => anna.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = "rgb(14, 18, 16)";
  await anna.open("/pair");
  await anna.page.getByRole("button", { name: "Change the relay address" }).click();
  expect(await background()).not.toBe(dark);
  await anna.at("settings-theme").selectOption("Dark");
  await expect.poll(background).toBe(dark);
  await anna.page.reload();
  await expect.poll(background).toBe(dark);
  await anna.page.getByRole("button", { name: "Change the relay address" }).click();
  await anna.at("settings-theme").selectOption("System");
  await expect.poll(background).not.toBe(dark);
  await anna.page.emulateMedia({ colorScheme: "dark" });
  await expect.poll(background).toBe(dark);
});

test.describe("with a browser that prefers Chinese", () => {
  test("the page speaks it from the start", async ({ visitor }) => {
    const ben = await visitor({ ...phone, locale: "zh-CN" });
    await ben.open("/pair");
    await expect(ben.page.getByRole("heading", { name: "连接一台机器" })).toBeVisible();
  });
});

test.describe("with a reasoning model", () => {
  test.use({ options: { config } });

  test("the reasoning level is chosen beside the model, and shown to all", async ({ visitor }) => {
    const anna = await visitor(phone);
    await anna.settle();
    const ben = await visitor();
    await ben.pair();
    await ben.at("session-row").click();
    await expect(ben.at("composer")).toBeEnabled();

    await expect(anna.at("thinking")).toHaveCount(0);
    await anna.page.getByLabel("Model", { exact: true }).selectOption("thinker");
    await expect(anna.at("thinking")).toHaveValue("low");
    await expect(ben.at("thinking")).toHaveValue("low");
    const levels = await ben.at("thinking").locator("option").allTextContents();
    expect(levels).toEqual(["Reasoning: minimal", "Reasoning: low", "Reasoning: medium", "Reasoning: high"]);
    await anna.at("thinking").selectOption("high");
    await expect(ben.at("thinking")).toHaveValue("high");
    await ben.page.reload();
    await expect(ben.at("thinking")).toHaveValue("high");
    expect(anna.log().filter((line) => line.type === "thinking_level_change")).toMatchObject([
      { thinkingLevel: "high", clientId: anna.clientId },
    ]);
    await test.step("and taken back to what is configured", async () => {
      await ben.at("thinking").selectOption({ label: "Default: low" });
      for (const each of [anna, ben]) {
        await expect(each.at("thinking")).toHaveValue("low");
      }
      await expect(ben.at("thinking").locator("option")).toHaveCount(4);
    });
    await ben.page.getByLabel("Model", { exact: true }).selectOption("demo");
    await expect(anna.at("thinking")).toHaveCount(0);
  });

  test("rules are listed by scope, and a stored one is removed", async ({ world, visitor }) => {
    const anna = await visitor(phone);
    await anna.settle();
    await anna.prompt("run touch one");
    await anna.at("approval-always").tap();
    await anna.rest();
    const session = anna.sessionPath;
    await anna.open(session.split("/s/")[0]);
    await anna.at("project-settings").tap();
    await expect(anna.at("rules-project").getByTestId("rule")).toContainText("bash(touch *)");
    await expect(anna.at("rules-user").getByTestId("rule")).toHaveText(/Deny\s*bash\(rm \*\)\s*config.toml/);
    await expect(anna.at("remove-rule")).toHaveCount(1);
    await test.step("what another adds is seen at once", async () => {
      const added = await world.scorel(["permission", "add", "--ask", "--user", "fetch_url"]);
      expect(added, added.stderr).toMatchObject({ code: 0 });
      await expect(anna.at("rules-user").getByTestId("rule")).toHaveCount(2);
    });
    await test.step("one is added here, and what is wrong with it the machine says", async () => {
      await anna.at("rule-text").fill("no such tool");
      await anna.at("add-rule").tap();
      const why = await world.scorel(["permission", "add", "no such tool", "--user"]);
      const alert = anna.page.getByRole("alert");
      await expect(alert).not.toBeEmpty();
      const said = (await alert.textContent())?.replace(/ Help$/, ""); // the link to the section about it
      expect(why.stderr).toContain((said ?? "").slice(1));
      await anna.at("rule-text").fill("bash(git push *)");
      await anna.page.getByLabel("Action").selectOption("deny");
      await anna.page.getByLabel("Applies to").selectOption("user");
      await anna.at("add-rule").tap();
      await expect(anna.at("rules-user").getByTestId("rule")).toHaveCount(3);
      await expect(anna.at("rule-text")).toHaveValue("");
      const listed = await world.scorel(["permission", "list", "--project", world.project, "--json"]);
      expect(listed.stdout).toContain("bash(git push *)");
    });
    await anna.at("rules-project").getByTestId("remove-rule").tap();
    await expect(anna.at("rules-project").getByTestId("rule")).toHaveCount(0);
    await anna.open(session);
    await anna.prompt("run touch one");
    await expect(anna.at("approval-card")).toBeVisible();
    await anna.at("approval-deny").tap();
    await anna.rest();
  });
});

test("a server of the folder starts only when the folder is trusted and the server allowed, as it was shown", async ({
  world,
  visitor,
}) => {
  const started = join(world.project, "started");
  const configure = (file: string) => {
    const env = { MODE: "fast", API_TOKEN: "hush" };
    world.write(".mcp.json", JSON.stringify({ mcpServers: { lamp: { command: "touch", args: ["--", file], env } } }));
  };
  configure("other");
  const anna = await visitor();
  await anna.settle();
  await expect(anna.at("servers-wait")).toContainText("lamp");
  await anna.at("servers-look").click();
  const server = anna.at("mcp-server");
  await expect(server).toHaveAttribute("data-state", "untrusted");
  await expect(anna.at("mcp-allow")).toHaveCount(0);
  await anna.at("trust-toggle").click();
  await expect(server).toHaveAttribute("data-state", "needs_consent");
  for (const part of ["touch", "other", "MODE = fast", "API_TOKEN = (not shown)"]) {
    await expect(server).toContainText(part);
  }
  await expect(server).not.toContainText("hush");

  await test.step("another configuration is not what was shown", async () => {
    configure("started");
    await anna.at("mcp-allow").click();
    await expect(anna.page.getByRole("alert")).toContainText("has changed since it was shown");
    await expect(server).toContainText("started");
    await expect(server).toHaveAttribute("data-state", "needs_consent");
  });
  await anna.at("mcp-allow").click();
  await expect(anna.at("mcp-allow")).toHaveCount(0);
  await anna.page.getByRole("button", { name: "Close" }).click();
  await expect(anna.at("servers-wait")).toHaveCount(0);
  expect(existsSync(started)).toBe(false);
  await anna.prompt("stream 3");
  await anna.rest();
  await expect.poll(() => existsSync(started)).toBe(true);

  await test.step("and no more when it is refused", async () => {
    await anna.open(anna.sessionPath.split("/s/")[0]);
    await anna.at("project-settings").click();
    await anna.at("mcp-refuse").click();
    await expect(server).toHaveAttribute("data-state", "denied");
    const listed = await world.scorel(["mcp", "list", "--project", world.project, "--json"]);
    expect(listed.stdout).toContain('"state":"denied"');
  });
});
