// Draws the PNG icons of the manifest from public/icon.svg with Chromium: `npm run icons`. They are committed.
import { readFileSync, writeFileSync } from "node:fs";
import { chromium } from "@playwright/test";

const root = new URL("../public/", import.meta.url);
const svg = readFileSync(new URL("icon.svg", root), "utf8");

/** Without its round corners, for systems that crop icons to their own shape. `scale` leaves a margin for that. */
const square = (scale) => {
  const margin = (64 * (1 - scale)) / 2;
  const [background] = svg.match(/<rect[^>]*\/>/);
  const drawing = svg.replace(/<\/?svg[^>]*>/g, "").replace(background, "");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">${background.replace(/rx="\d+" /, "")}<g transform="translate(${margin} ${margin}) scale(${scale})">${drawing}</g></svg>`;
};

const icons = [
  { name: "icon-192.png", size: 192, svg },
  { name: "icon-512.png", size: 512, svg },
  { name: "icon-maskable-512.png", size: 512, svg: square(0.8) },
  { name: "apple-touch-icon.png", size: 180, svg: square(0.9) },
];

const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
const page = await browser.newPage();
for (const { name, size, svg: drawing } of icons) {
  await page.setViewportSize({ width: size, height: size });
  const url = `data:image/svg+xml;base64,${Buffer.from(drawing).toString("base64")}`;
  await page.setContent(`<style>*{margin:0}img{display:block;width:${size}px}</style><img src="${url}">`);
  await page.locator("img").evaluate((image) => image.decode());
  writeFileSync(new URL(name, root), await page.screenshot({ omitBackground: true }));
}
await browser.close();
