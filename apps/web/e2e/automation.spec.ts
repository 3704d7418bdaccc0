import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "./harness";
import { ModelServer } from "./model-server";
import type { Visitor } from "./visitor";

// What runs by itself on a machine, managed on the page and checked on a real host.

const example = fileURLToPath(new URL("../../../docs/examples/extensions/review", import.meta.url));

/** Opens the settings of the only project. */
async function openProject(visitor: Visitor): Promise<void> {
  await visitor.open(visitor.sessionPath.split("/s/")[0]);
  await visitor.at("project-settings").click();
  await expect(visitor.at("project-sheet")).toBeVisible();
}

test("a schedule is added, run and removed on the page, and its session says so", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await openProject(anna);
  await anna.at("schedule-add").click();
  await anna.at("schedule-name").fill("nightly");
  await anna.at("cron").fill("0 3 * *");
  await expect(anna.at("cron-error")).toContainText("has 4 fields");
  await anna.at("cron").fill("30 2 29 2 *");
  await anna.at("zone").fill("Europe/Berlin");
  await expect(anna.at("next-times")).toContainText("29 Feb 2028, 02:30");
  await anna.at("schedule-prompt").fill("say hello");
  await anna.at("schedule-save").click();
  const card = anna.at("schedule");
  await expect(card).toContainText("30 2 29 2 * (Europe/Berlin)");
  await card.getByTestId("schedule-run").click();
  await expect(card).toContainText("succeeded");
  const listed = await world.scorel(["schedule", "show", "nightly"]);
  expect(listed.stdout).toMatch(/person +succeeded/);

  await test.step("the run leads to its session", async () => {
    await card.getByTestId("schedule-history").click();
    await card.getByTestId("run-session").click();
    await expect(anna.page.getByText("A schedule started this session.")).toBeVisible();
    await anna.at("session-menu").click();
    await expect(anna.at("started-by")).toContainText("Started by the schedule nightly.");
  });
  await test.step("it is disabled and removed", async () => {
    await openProject(anna);
    await card.getByTestId("schedule-enabled").click();
    await expect(card).toContainText("Does not run by itself");
    await card.getByTestId("schedule-remove").click();
    await anna.page.getByRole("dialog").last().getByRole("button", { name: "Remove", exact: true }).click();
    await expect(card).toHaveCount(0);
  });
});

test("a webhook made on the page takes its token, and no other", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await openProject(anna);
  await anna.at("schedule-add").click();
  await anna.at("schedule-name").fill("deployed");
  await anna.at("when-kind").selectOption("webhook");
  await anna.at("schedule-prompt").fill("say hello");
  await anna.at("schedule-save").click();
  const shown = anna.at("webhook-token").locator("code");
  await expect(shown).toHaveCount(2);
  const [path = "", token = ""] = await shown.allTextContents();
  const { addr } = JSON.parse((await world.scorel(["host", "status", "--json"])).stdout);
  const send = (bearer: string) =>
    fetch(`http://${addr}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${bearer}`, "idempotency-key": "one" },
      body: "version 7 is live",
    });
  expect((await send(`${token}x`)).status).toBe(401);
  expect((await send(token)).status).toBe(200);
  await expect(anna.at("schedule")).toContainText("succeeded");
  expect(await (await send(token)).json()).toMatchObject({ repeated: true });
  await anna.at("schedule").getByTestId("schedule-history").click();
  await expect(anna.at("run-session")).toHaveCount(1);
});

test("an extension is reviewed, used, disabled and removed on the page", async ({ world, visitor }) => {
  const anna = await visitor();
  await anna.settle();
  expect((await world.scorel(["host", "clients", "grant", anna.clientId, "shell"])).code).toBe(0);
  await openProject(anna);
  await anna.at("extension-add").click();
  await anna.at("extension-source").fill("/nowhere/at/all");
  await anna.at("extension-fetch").click();
  await expect(anna.at("extension-form").getByRole("alert")).toContainText("no such file");
  await anna.at("extension-source").fill(example);
  await anna.at("extension-fetch").click();
  await expect(anna.at("extension-review")).toContainText("hooks/no-push.sh");
  await expect(anna.at("extension-review")).toContainText("review:critic");
  await expect(anna.at("extension")).toHaveCount(0);
  await anna.at("extension-use").click();
  const card = anna.at("extension");
  await expect(card).toContainText("enabled");
  await expect(anna.at("hook")).toContainText("extension review");
  await card.getByTestId("extension-update").click();
  await expect(anna.page.getByText("The extension review is up to date.")).toBeVisible();
  await card.getByTestId("extension-toggle").click();
  await expect(card).toContainText("disabled");
  await card.getByTestId("extension-remove").click();
  await anna.page.getByRole("dialog").last().getByRole("button", { name: "Remove", exact: true }).click();
  await expect(card).toHaveCount(0);
});

test("a hook of a project is allowed and tested on the page, and asked about again", async ({ world, visitor }) => {
  mkdirSync(join(world.project, ".scorel"));
  world.write(".scorel/hooks.toml", '[[hooks]]\nevent = "before_tool"\ncommand = "./check.sh"\n');
  world.write("check.sh", "#!/bin/bash\necho 'Not by itself.' >&2\nexit 2\n");
  const anna = await visitor();
  await anna.settle();
  await openProject(anna);
  const hook = anna.at("hook");
  await expect(hook).toContainText("not trusted");
  await anna.at("trust-toggle").click();
  await expect(hook).toContainText("check.sh");
  await hook.getByTestId("hook-allow").click();
  await expect(hook).toContainText("allowed");
  await hook.getByTestId("hook-test").click();
  await expect(anna.at("hook-tested")).toContainText(/failed|denied/);
  world.write("check.sh", "#!/bin/bash\ntouch stolen\n");
  await openProject(anna);
  await expect(hook).toHaveAttribute("data-state", "needs_consent");
});

const limited = test.extend<{ model: ModelServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the required fixtures from the pattern
  model: async ({}, use) => {
    const server = new ModelServer();
    await use(server);
    await server.stop();
  },
  options: async ({ model }, use) => {
    const provider = `[providers.local]\ntype = "openai"\nbase_url = "${await model.start()}"\n`;
    const budget = "[budgets]\nsession_tokens = 1\n";
    await use({ config: `default_model = "m"\n${provider}[models.m]\nprovider = "local"\nid = "m"\n${budget}` });
  },
});

limited("a turn that stopped at a budget says so, and continues after it was lifted", async ({ visitor }) => {
  const anna = await visitor();
  await anna.settle();
  await anna.prompt("write 3 at 1000");
  await anna.rest();
  await anna.prompt("write 2 at 1000");
  await expect(anna.at("budget-stop")).toContainText("A budget is used up");
  await anna.page.reload();
  await expect(anna.at("budget-stop")).toContainText("A budget is used up");
  await anna.at("budget-lift").click();
  await expect(anna.at("budget-stop")).toHaveCount(0);
  await anna.rest();
  await anna.at("session-menu").click();
  await expect(anna.at("budget").first()).toContainText("lifted");
});
