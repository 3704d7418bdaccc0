import { expect } from "@playwright/test";
import { test } from "./gallery";

// `npm run bench`: the throughput of two workers in Chromium through the seal, and whether the page and its worker stay
// responsive. It prints the measurements and fails only for a long task of the page: speeds depend on the machine.
test("seal throughput", async ({ gallery, page }) => {
  test.setTimeout(300_000);
  await page.goto(`${gallery}dev/seal.html`);
  const { rows, task } = await page.evaluate(() => window.measured);
  console.log(`Chromium ${page.context().browser()?.version()}, two workers, WebCrypto`);
  console.log(
    "| payload | message KiB | to the page MB/s | from the page MB/s | longest wait in the page's worker ms |",
  );
  console.log("|---|---:|---:|---:|---:|");
  for (const r of rows) {
    const figures = [r.size / 1024, r.down, r.up, r.waited].map((n) => n.toFixed(n < 10 ? 1 : 0));
    console.log(`| ${r.payload} | ${figures.join(" | ")} |`);
  }
  expect(task, "longest task of the page in ms").toBeLessThan(50);
});
