import { click, openCards, opening, type Sight, toCards, toTop } from "./sight";

/** The transcript of a session, its cards and its sheets. */
export const sessionSights: Sight[] = [
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
    name: "share-session",
    scene: "shared",
    act: async (page) => {
      await click("session-menu", "share-session")(page);
      await page.getByTestId("guest-link").nth(2).waitFor();
      await page.getByTestId("guest-create").and(page.locator(":enabled")).waitFor();
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
  { name: "pictures", scene: "pictures", act: (page) => page.getByTestId("picture").first().waitFor() },
  { name: "pictures-top", scene: "pictures", act: toTop, alike: true },
  { name: "deny", scene: "approval", act: click("approval-word") },
  { name: "session", scene: "managed", act: opening("Session details", "session-menu") },
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
  { name: "delete", scene: "managed", act: opening("Delete the session?", "session-menu", "delete-session") },
  { name: "tree", scene: "managed", act: click("open-tree", "tree-node") },
  { name: "mode", scene: "managed", act: opening("Permissions", "session-mode") },
  { name: "bypass", scene: "chat", act: click("session-mode", "mode-bypass") },
  {
    name: "sandbox",
    scene: "weak",
    act: async (page) => {
      await page.getByTestId("session-mode").click();
      await page.getByTestId("sandbox").scrollIntoViewIfNeeded();
    },
  },
  { name: "branches", scene: "managed", act: opening("Branches", "open-tree"), alike: true },
  { name: "diff", scene: "approvals", act: toCards, alike: true },
  { name: "place", scene: "managed", act: opening("Edit from here", "place-menu") },
];
