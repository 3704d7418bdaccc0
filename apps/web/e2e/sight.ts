import type { Page } from "@playwright/test";

export interface Sight {
  name: string;
  scene: string;
  act?: (page: Page) => Promise<void>;
  /** Whether it consists of parts that other sights show, and need not be checked automatically again. */
  alike?: boolean;
}

/** Clicks on elements one after the other. */
export const click = (...ids: string[]) => {
  return async (page: Page) => {
    for (const id of ids) {
      await page.getByTestId(id).first().click();
    }
  };
};

/** Clicks on elements one after the other, and waits for the dialog with that title, whose code may load late. */
export const opening = (title: string, ...ids: string[]) => {
  return async (page: Page) => {
    await click(...ids)(page);
    await page.getByRole("dialog", { name: title }).waitFor();
  };
};

/** Scrolls to the top of the loaded transcript. */
export const toTop = async (page: Page) => {
  await page.getByRole("region", { name: "Transcript" }).evaluate((box) => box.scrollTo(0, 0));
};

/** Scrolls to the top, and back by the link to the waiting cards, which shows the first of several. */
export const toCards = async (page: Page) => {
  await toTop(page);
  await page.getByTestId("to-card").click();
};

export const openCards = async (page: Page) => {
  for (const card of await page.getByTestId("tool-card").all()) {
    const button = card.getByRole("button").first();
    if ((await button.getAttribute("aria-expanded")) === "false") {
      await button.click();
    }
  }
};
