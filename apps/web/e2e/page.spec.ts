import type { Page } from "@playwright/test";
import { expect, test } from "./harness";
import { words } from "./visitor";

test("on a phone one can pair, add a folder, prompt and allow, without overflow", async ({ visitor }) => {
  const anna = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await anna.open();
  await expect(anna.at("pair-code")).toBeVisible();
  await expectFits(anna.page);
  await anna.pair();
  await expectFits(anna.page);
  await anna.addProject();
  await expectFits(anna.page);
  await anna.newSession();
  await anna.prompt("stream 60");
  await anna.rest();
  expect((await anna.said()).at(-1)?.text).toBe(words(60));
  await anna.prompt(`run env echo ${"a-long-word-without-a-break".repeat(8)}`);
  await expect(anna.at("approval-allow")).toBeInViewport();
  await expectFits(anna.page);
  await anna.at("approval-allow").tap();
  await anna.expectTruth();
  await expectFits(anna.page);
});

/** Asserts that the page is no wider than the screen. */
async function expectFits(page: Page): Promise<void> {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide).toBe(0);
}

test("the policy of the page lets no foreign script run, and a breach of it is noticed", async ({ world, visitor }) => {
  const anna = await visitor();
  const response = await anna.page.goto(`${world.url}/pair`);
  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/unsafe-(inline|eval)/);
  await expect(anna.at("pair-code")).toBeVisible();
  expect(anna.complaints).toEqual([]);
  const ran = await anna.page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "document.body.dataset.breached = 'yes'";
    document.body.append(script);
    return document.body.dataset.breached ?? "no";
  });
  expect(ran).toBe("no");
  await expect.poll(() => anna.complaints.join()).toContain("Content Security Policy");
  anna.forgive(/Content Security Policy/);
});
