import type { Page } from "@playwright/test";

export interface Sight {
  name: string;
  scene: string;
  act?: (page: Page) => Promise<void>;
  /** Made of what others show too: it need not be read by a machine again. */
  alike?: boolean;
}

const click = (...ids: string[]) => {
  return async (page: Page) => {
    for (const id of ids) await page.getByTestId(id).first().click();
  };
};

/** The top of what the transcript holds. */
const toTop = async (page: Page) => {
  await page.getByRole("region", { name: "Transcript" }).evaluate((box) => box.scrollTo(0, 0));
};

/** To the top and back by the way to what waits: it shows the first of several cards. */
const toCards = async (page: Page) => {
  await toTop(page);
  await page.getByTestId("to-card").click();
};

const openCards = async (page: Page) => {
  for (const card of await page.getByTestId("tool-card").all()) {
    const button = card.getByRole("button").first();
    if ((await button.getAttribute("aria-expanded")) === "false") await button.click();
  }
};

const plain = [
  ...["pair", "unsupported", "refused", "devices", "foreigndevices", "unknowndevice"],
  ...["device", "noproject", "deviceoffline", "devicerevoked", "foreigndevice"],
  ...["connection", "connectiondown", "connectionoffline", "connectionwarn", "connectionrunning"],
  ...["chat", "empty", "loading", "missing", "revoked", "offline", "damaged", "working", "error", "demo"],
  ...["approval", "approvals", "question", "crowd", "crewdone", "hugediff", "watching", "notes"],
];

const alike = [
  ...["revoked", "damaged", "working", "error", "offline", "approval", "question", "crewdone", "watching"],
  ...["connection", "connectionoffline", "connectionrunning", "deviceoffline", "devices", "device"],
];

/** Every page and state worth a look. */
export const sights: Sight[] = [
  ...plain.map((scene) => ({ name: scene, scene, alike: alike.includes(scene) })),
  { name: "unread", scene: "unread", act: (page) => page.getByText("could not be read").waitFor() },
  { name: "cards", scene: "chat", act: openCards, alike: true },
  { name: "answered", scene: "answered", act: openCards },
  { name: "foreign", scene: "foreign", act: openCards },
  {
    name: "process",
    scene: "process",
    act: async (page) => {
      await openCards(page);
      await page.getByTestId("operation").first().getByRole("button").first().click();
      await page.getByTestId("process-log").first().waitFor();
    },
  },
  ...["crowd", "foreign", "notes", "hugediff"].map((scene) => ({
    name: `${scene}-top`,
    scene,
    act: toTop,
    alike: true,
  })),
  { name: "deny", scene: "approval", act: click("approval-word") },
  { name: "session", scene: "managed", act: click("session-menu") },
  { name: "delete", scene: "managed", act: click("session-menu", "delete-session") },
  { name: "tree", scene: "managed", act: click("open-tree", "tree-node") },
  { name: "mode", scene: "managed", act: click("session-mode") },
  { name: "bypass", scene: "chat", act: click("session-mode", "mode-bypass") },
  {
    name: "sandbox",
    scene: "weak",
    act: async (page) => {
      await page.getByTestId("session-mode").click();
      await page.getByTestId("sandbox").scrollIntoViewIfNeeded();
    },
  },
  { name: "branches", scene: "managed", act: click("open-tree"), alike: true },
  { name: "diff", scene: "approvals", act: toCards, alike: true },
  { name: "place", scene: "managed", act: click("place-menu") },
  {
    name: "servers",
    scene: "managed",
    act: async (page) => {
      await page.getByTestId("servers-look").click();
      await page.getByTestId("rule").first().waitFor();
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
  { name: "folders", scene: "device", act: click("add-project") },
  {
    name: "settings",
    scene: "devices",
    act: (page) => page.getByRole("button", { name: "Settings" }).click(),
  },
  {
    name: "forget",
    scene: "devices",
    act: (page) => page.getByRole("button", { name: "Forget workshop" }).click(),
  },
];
