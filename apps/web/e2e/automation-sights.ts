import type { Sight } from "./sight";

/** What runs by itself on a machine: schedules, hooks, extensions, and the budgets that limit it. */
export const automationSights: Sight[] = [
  {
    name: "schedules",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("schedule-history").first().click();
      await page.getByTestId("schedule").last().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "scheduleform",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("schedule-add").click();
      await page.getByTestId("schedule-name").fill("weekly");
      await page.getByTestId("schedule-prompt").fill("Update the dependencies and run the tests.");
      await page.getByTestId("next-times").waitFor();
      await page.getByTestId("when-kind").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "scheduletoken",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("schedule-add").click();
      await page.getByTestId("schedule-name").fill("deployed");
      await page.getByTestId("when-kind").selectOption("webhook");
      await page.getByTestId("schedule-prompt").fill("Say what this deployment changed.");
      await page.getByTestId("unattended").waitFor();
      await page.getByTestId("schedule-save").click();
      await page.getByTestId("webhook-token").waitFor();
    },
  },
  {
    name: "scheduleoutside",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("schedule-add").click();
      await page.getByTestId("when-kind").selectOption("github");
      await page.getByTestId("schedule-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "hooks",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("hook-test").click();
      await page.getByTestId("hook-tested").waitFor();
      await page.getByTestId("hook").first().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "extensions",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("extension-show").click();
      await page.getByTestId("extension").first().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "extensionreview",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("extension-update").click();
      await page.getByTestId("extension-use").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "channels",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("channel").first().scrollIntoViewIfNeeded();
      await page.getByTestId("channels-readable").evaluate((each) => each.scrollIntoView());
    },
  },
  {
    name: "channelnotices",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("chat-notices").first().click();
      await page.getByTestId("chat-push").getByTestId("quiet-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "channelform",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("channel-add").click();
      await page.getByTestId("channel-platform").selectOption("slack");
      await page.getByTestId("channel-setting-token").fill("xoxb-1");
      await page.getByTestId("channel-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "channelpair",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("channel-pair").first().click();
      await page.getByTestId("pair-files").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "channelcode",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("channel-pair").first().click();
      await page.getByTestId("pair-create").click();
      await page.getByTestId("chat-code").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "budgets",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("session-menu").click();
      await page.getByTestId("budget-set").first().click();
      await page.getByTestId("budget").last().scrollIntoViewIfNeeded();
    },
  },
  {
    name: "overbudget",
    scene: "overBudget",
    act: (page) => page.getByTestId("budget-stop").waitFor(),
  },
];
