import type { Page } from "@playwright/test";
import axe, { type RunOnly } from "axe-core";

// What every page must meet, as far as it can be checked automatically.

export const rules: RunOnly = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};

export const contrast: RunOnly = { type: "rule", values: ["color-contrast"] };

/**
 * Returns the violations that axe finds in the page. `@axe-core/playwright` would open another
 * page for each check.
 */
export async function faultsOf(page: Page, runOnly: RunOnly): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) {
    await page.evaluate(axe.source);
  }
  return page.evaluate(async (runOnly) => {
    // Content behind an open sheet cannot be reached, and is a separate sight.
    const sheets = document.querySelectorAll("dialog[open]");
    const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(
      sheets.length > 0 ? sheets : document,
      { runOnly, resultTypes: ["violations"] },
    );
    return violations.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.target.join(" ")} ${node.failureSummary}`),
    );
  }, runOnly);
}

/**
 * Switches to the dark theme, which changes only colors. Transitions are off meanwhile: the style of a block outside
 * the visible area is computed when it is asked for, and a color would be measured at the start of its change.
 */
export async function darken(page: Page): Promise<void> {
  await page.evaluate(() => {
    const still = new CSSStyleSheet();
    still.replaceSync("*, ::before, ::after { transition: none !important; }");
    document.adoptedStyleSheets.push(still);
  });
  await page.emulateMedia({ colorScheme: "dark" });
}

/** Returns the elements that overflow the side, although nothing there scrolls sideways. */
export function tooWide(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const wide = document.scrollingElement as Element;
    const boxes = [wide, ...document.querySelectorAll("main, section[aria-label=Transcript], dialog > div > div")];
    return boxes
      .filter((box) => box.scrollWidth > box.clientWidth + 1)
      .map((box) => `too wide: ${box.outerHTML.slice(0, 90)}`)
      .concat(wide.scrollHeight > wide.clientHeight + 1 ? ["the page itself can be scrolled"] : []);
  });
}

/**
 * Returns the controls smaller than 44 px. A link in running text is as high as its line, and the field of a terminal
 * is at its cursor, while touching the screen anywhere focuses it.
 */
export function tooSmall(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const all = [
      ...document.querySelectorAll<HTMLElement>(
        ":is(button, select, input, textarea, a[href]):not([type=checkbox]:disabled)",
      ),
    ];
    const open = document.querySelector("dialog");
    return all.flatMap((control) => {
      const target = (control.closest("label") ?? control).getBoundingClientRect();
      const hidden = target.width === 0 || (open && !open.contains(control)) || control.closest(".sr-only, .xterm");
      const inText = control.matches(":is(.md, pre) .file-link") || getComputedStyle(control).display === "inline";
      if (hidden || inText) {
        return [];
      }
      const small = target.height < 43.5 || target.width < 43.5;
      return small
        ? [`${Math.round(target.width)} x ${Math.round(target.height)}: ${control.outerHTML.slice(0, 120)}`]
        : [];
    });
  });
}
