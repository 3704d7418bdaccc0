import type { Page } from "@playwright/test";
import type { Sight } from "./sight";

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

/** The changes of a session, the files and git of its project, and a terminal. */
export const changesSights: Sight[] = [
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
    name: "filetree",
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
];
