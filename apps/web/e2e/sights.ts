import type { Page } from "@playwright/test";
import { automationSights } from "./automation-sights";

export interface Sight {
  name: string;
  scene: string;
  act?: (page: Page) => Promise<void>;
  /** Whether it consists of parts that other sights show, and need not be checked automatically again. */
  alike?: boolean;
}

const click = (...ids: string[]) => {
  return async (page: Page) => {
    for (const id of ids) {
      await page.getByTestId(id).first().click();
    }
  };
};

/** Scrolls to the top of the loaded transcript. */
const toTop = async (page: Page) => {
  await page.getByRole("region", { name: "Transcript" }).evaluate((box) => box.scrollTo(0, 0));
};

/** Scrolls to the top, and back by the link to the waiting cards, which shows the first of several. */
const toCards = async (page: Page) => {
  await toTop(page);
  await page.getByTestId("to-card").click();
};

const openCards = async (page: Page) => {
  for (const card of await page.getByTestId("tool-card").all()) {
    const button = card.getByRole("button").first();
    if ((await button.getAttribute("aria-expanded")) === "false") {
      await button.click();
    }
  }
};

const plain = [
  ...["pair", "unsupported", "refused", "devices", "devicesunknown", "foreigndevices", "unknowndevice"],
  ...["inboxmany", "inboxnomatch", "inboxempty", "inboxold", "inboxoffline"],
  ...["devicewaiting", "saveddevice", "savedcopy", "savedoffline", "update", "share"],
  ...["device", "archived", "noproject", "start", "startwaiting", "deviceoffline", "devicerevoked", "foreigndevice"],
  ...["connection", "connectiondown", "connectionoffline", "connectionwarn", "connectionrunning", "connectionpaths"],
  ...[
    "chat",
    "empty",
    "loading",
    "missing",
    "revoked",
    "offline",
    "damaged",
    "working",
    "retrying",
    "error",
    "demo",
    "versions",
  ],
  ...["limiteddevice", "expireddevice", "expiredsession", "limitedterminal"],
  ...["approval", "approvals", "question", "serverasks", "crowd", "crewdone", "hugediff", "watching", "notes"],
];

const alike = [
  ...["revoked", "damaged", "working", "error", "offline", "approval", "question", "crewdone", "watching"],
  ...["saveddevice", "savedcopy", "update"],
  ...["connection", "connectionoffline", "connectionrunning", "deviceoffline", "devices", "device"],
];

/** A phone has no button for it in the header. */
const openChanges = async (page: Page) => {
  await page.getByTestId("session-menu").waitFor();
  if (await page.getByTestId("open-changes").isVisible()) {
    await page.getByTestId("open-changes").click();
  } else {
    await page.getByTestId("session-menu").click();
    await page.getByTestId("session-changes").click();
  }
};

/** Opens the access of one of the clients. */
const openAccess = (nth: number) => async (page: Page) => {
  await page.getByTestId("access").click();
  await page.getByTestId("client-grants").nth(nth).click();
  await page.getByTestId("client-access").waitFor();
};

/** Every page and state to check. */
export const sights: Sight[] = [
  ...plain.map((scene) => ({ name: scene, scene, alike: alike.includes(scene) })),
  {
    name: "inbox",
    scene: "inbox",
    act: async (page) => {
      await page.getByTestId("approval-card").nth(1).waitFor();
      await page.getByTestId("question-card").waitFor();
    },
  },
  {
    name: "find",
    scene: "find",
    act: async (page) => {
      await page.getByTestId("open-find").click();
      await page.getByTestId("find-text").fill("channel");
      await page.getByText("3 results").waitFor();
      await page.getByRole("button", { name: "Previous result" }).click();
      await page.getByText("3 of 3").waitFor();
    },
  },
  {
    name: "palette",
    scene: "inbox",
    act: async (page) => {
      await page.getByTestId("inbox-row").first().waitFor();
      await page.getByTestId("open-palette").click();
      await page.getByTestId("palette-text").fill("session");
      await page.locator('[data-kind="text"]').first().waitFor();
    },
  },
  {
    name: "inboxkeys",
    scene: "inboxempty",
    act: async (page) => {
      await page.getByText("No sessions yet").waitFor();
      await page.getByTestId("skip").waitFor({ state: "attached" }); // the keys are loaded
      await page.keyboard.press("?");
      await page.getByRole("dialog").waitFor();
    },
  },
  {
    name: "access",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("access").click();
      await page.getByTestId("client").nth(2).waitFor();
    },
  },
  {
    name: "accesslimited",
    scene: "access",
    act: async (page) => {
      await page.getByTestId("access").click();
      await page.getByTestId("client").nth(3).waitFor();
      await page.getByTestId("client").nth(1).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "share-session",
    scene: "shared",
    act: async (page) => {
      await click("session-menu", "share-session")(page);
      await page.getByTestId("guest-link").nth(2).waitFor();
      await page.getByTestId("guest-create").and(page.locator(":enabled")).waitFor();
    },
  },
  { name: "accessgrants", scene: "access", act: openAccess(1) },
  { name: "accessown", scene: "access", act: openAccess(0) },
  {
    name: "accesslimits",
    scene: "access",
    act: async (page) => {
      await openAccess(1)(page);
      await page.getByTestId("limits-expiry").selectOption("date");
      await page.getByTestId("save-limits").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "machinesettings",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("provider").nth(3).waitFor();
      await page.getByTestId("set-key").nth(1).click();
    },
  },
  {
    name: "backend",
    scene: "backend",
    act: async (page) => {
      await openCards(page);
      await page.getByTestId("approval-choice:1").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "backends",
    scene: "backends",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("backend-test").nth(1).click();
      await page.getByTestId("backend-result").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "backendcommands",
    scene: "backendcommands",
    act: async (page) => {
      await page.getByTestId("backend-options").waitFor();
      await page.getByTestId("composer").fill("/");
      await page.getByTestId("slash-option").nth(1).waitFor();
    },
  },
  {
    name: "backendoptions",
    scene: "backendcommands",
    act: async (page) => {
      await page.getByTestId("backend-options").click();
      await page.getByTestId("backend-option-mode").waitFor();
    },
  },
  {
    name: "startbackend",
    scene: "startbackend",
    act: (page) =>
      page
        .getByTestId("start-backend")
        .selectOption("claude")
        .then(() => {}),
  },
  {
    name: "notifications",
    scene: "device",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("push-address").nth(1).waitFor();
      await page.getByTestId("quiet-save").scrollIntoViewIfNeeded();
    },
  },
  {
    name: "machinepaths",
    scene: "paths",
    act: async (page) => {
      await page.getByTestId("machine-settings").click();
      await page.getByTestId("path-hint").nth(2).scrollIntoViewIfNeeded();
    },
  },
  { name: "unread", scene: "unread", act: (page) => page.getByText("could not be loaded").waitFor() },
  { name: "cards", scene: "chat", act: openCards, alike: true },
  { name: "toolcards", scene: "toolcards", act: click("pinned-tasks-toggle") },
  {
    // Rows of a diff that are not visible keep the colors of the previous theme.
    name: "toolcards-open",
    scene: "toolcards",
    alike: true,
    act: async (page) => {
      await toTop(page);
      await page.getByTestId("reads").click();
      await openCards(page);
      await page.getByRole("table").first().waitFor();
    },
  },
  {
    name: "crewreport",
    scene: "crewdone",
    act: (page) => page.getByTestId("crew-member").first().getByRole("button").click(),
  },
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
  {
    name: "startfailed",
    scene: "startfailed",
    act: (page) => page.getByText("Not sent").waitFor(),
  },
  { name: "pictures", scene: "pictures", act: (page) => page.getByTestId("picture").first().waitFor() },
  { name: "pictures-top", scene: "pictures", act: toTop, alike: true },
  {
    name: "picturesqueue",
    scene: "pictures",
    act: async (page) => {
      await page.getByRole("button", { name: "Edit queued message" }).click();
      await page.getByRole("dialog").getByRole("img").first().waitFor();
    },
  },
  {
    name: "picturesedit",
    scene: "pictures",
    act: async (page) => {
      await toTop(page);
      await page.getByTestId("place-menu").first().click();
      await page.getByTestId("go-here").click();
      await page.getByTestId("attached-images").getByRole("img").first().waitFor();
      await page.getByTestId("send").click();
    },
  },
  {
    name: "slash",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("/");
      await page.getByText("/simplify").waitFor();
    },
  },
  {
    name: "files",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("Why does @client");
      await page.getByText("client.go").waitFor();
    },
  },
  {
    name: "serverprompts",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("/mcp__");
      await page.getByText("/mcp__rooms__tidy").waitFor();
    },
  },
  {
    name: "serverresources",
    scene: "chat",
    act: async (page) => {
      await page.getByTestId("composer").fill("Do what @house");
      await page.getByText("House rules").waitFor();
    },
  },
  { name: "deny", scene: "approval", act: click("approval-word") },
  { name: "session", scene: "managed", act: click("session-menu") },
  {
    name: "sessionrow",
    scene: "device",
    act: async (page) => {
      await page.getByRole("main").getByRole("button", { name: "Details of Rename Frame" }).click();
      await page.getByTestId("add-meta").scrollIntoViewIfNeeded();
      await page.getByTestId("add-meta").click();
    },
  },
  {
    name: "context",
    scene: "device",
    act: async (page) => {
      await page.getByRole("main").getByRole("button", { name: "Details of Rename Frame" }).click();
      for (const part of ["System prompt (4)", "Instructions", "Tools (3)", "Messages (4)"]) {
        await page.getByText(part).first().click();
      }
      await page.getByTestId("session-context").evaluate((context) => context.scrollIntoView());
    },
  },
  { name: "delete", scene: "managed", act: click("session-menu", "delete-session") },
  { name: "tree", scene: "managed", act: click("open-tree", "tree-node") },
  {
    name: "changes",
    scene: "managed",
    act: async (page) => {
      await openChanges(page);
      await page.getByRole("button", { name: /queue\.go/ }).click();
      await page.locator("[data-choice]").first().click();
      await page.getByTestId("line-comment").waitFor();
    },
  },
  {
    name: "files",
    scene: "managed",
    act: async (page) => {
      await openChanges(page);
      await page.getByTestId("part-files").click();
    },
  },
  {
    name: "git",
    scene: "managed",
    act: async (page) => {
      await openChanges(page);
      await page.getByTestId("part-git").click();
      await page.getByRole("button", { name: /queue\.go/ }).click();
      await page.getByRole("dialog").getByRole("table").waitFor();
      await page.getByTestId("commit-message").fill("relay: bound the send queues");
    },
  },
  {
    name: "githistory",
    scene: "managed",
    act: async (page) => {
      await openChanges(page);
      await page.getByTestId("part-git").click();
      await page.getByTestId("part-history").click();
      await page.getByTestId("commit-row").nth(1).getByRole("button").click();
      await page.getByText("relay/queue.go").waitFor();
    },
  },
  {
    name: "terminal",
    scene: "terminal",
    // The text is also in the rows for screen readers.
    act: (page) => page.getByTestId("terminal-screen").locator(".xterm-rows").getByText("All checks took").waitFor(),
  },
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
  ...automationSights,
  { name: "folders", scene: "device", act: click("add-project") },
  {
    name: "settings",
    scene: "devices",
    act: (page) => page.getByRole("button", { name: "Settings" }).click(),
  },
  {
    name: "forget",
    scene: "devices",
    act: (page) => page.getByRole("button", { name: "Remove workshop" }).click(),
  },
];
