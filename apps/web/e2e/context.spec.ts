import { test as base, expect } from "./harness";
import { ModelServer } from "./model-server";

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const test = base.extend<{ model: ModelServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the required fixtures from the pattern
  model: async ({}, use) => {
    const server = new ModelServer();
    await use(server);
    await server.stop();
  },
  options: async ({ model }, use) => {
    const provider = `[providers.local]\ntype = "openai"\nbase_url = "${await model.start()}"\n`;
    await use({
      config: `default_model = "m"\n${provider}[models.m]\nprovider = "local"\nid = "m"\ncontext_window = 100000\n`,
    });
  },
});

test("the context meter shows what the model reported last, and what uses it", async ({ model, visitor }) => {
  const anna = await visitor(phone);
  await anna.settle();
  await expect(anna.at("context-meter")).toHaveCount(0);
  model.promptTokens = 24_980;
  await anna.prompt("write 20 at 1000");
  await anna.rest();
  await expect(anna.at("context-meter")).toHaveText("25% of context");
  await test.step("it follows each call, and outlasts the page", async () => {
    model.promptTokens = 49_980;
    await anna.prompt("write 20 at 1000 again");
    await anna.rest();
    await expect(anna.at("context-meter")).toHaveText("50% of context");
    await anna.page.reload();
    await expect(anna.at("context-meter")).toHaveText("50% of context");
  });
  await test.step("it opens what uses the context", async () => {
    await anna.at("context-meter").tap();
    await expect(anna.at("session-context")).toContainText("Messages (4)");
  });
});
