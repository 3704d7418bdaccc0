import { defineConfig } from "@playwright/test";
import { chromium } from "./e2e/tools";

// The whole way in a real browser: a relay process, a host process, Chromium.
// Nothing is retried, since a test that passes at its second try has found a fault.
export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/check.ts",
  outputDir: "test-results",
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: true,
  workers: 2,
  retries: 0,
  reporter: "list",
  // Limits end what waits in vain; a busy machine has time.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    launchOptions: {
      executablePath: chromium(),
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--disable-quic",
        // A name that is not this machine's own, for the page that is no secure context.
        "--host-resolver-rules=MAP relay.test 127.0.0.1",
      ],
    },
  },
  projects: [
    { name: "way", testMatch: "*.spec.ts" },
    { name: "shots", testMatch: "*.shots.ts" },
    { name: "bench", testMatch: "*.bench.ts" },
    { name: "accept", testMatch: "*.accept.ts" },
  ],
});
