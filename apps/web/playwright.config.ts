import { defineConfig } from "@playwright/test";
import { chromium, headlessShell } from "./e2e/tools";

const launchOptions = {
  executablePath: chromium(),
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    // A name other than this machine's own, for a page without a secure context.
    "--host-resolver-rules=MAP relay.test 127.0.0.1",
  ],
};

// End-to-end tests in a real browser: a relay process, a host process, Chromium.
// Nothing is retried: a test that passes on the second try has found a bug.
export default defineConfig({
  testDir: "e2e",
  globalSetup: "./e2e/check.ts",
  outputDir: "test-results",
  forbidOnly: Boolean(process.env.CI),
  fullyParallel: true,
  // Tests wait for the programs that they start, so two processors have room for three. In CI the Go tests take longer.
  workers: process.env.CI ? 2 : 3,
  retries: 0,
  reporter: "list",
  // Generous timeouts: they end only tests that hang, not slow ones on a busy machine.
  timeout: 300_000,
  expect: { timeout: 60_000 },
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    launchOptions,
  },
  projects: [
    {
      name: "way",
      testMatch: "*.spec.ts",
      testIgnore: "push.spec.ts",
      use: { launchOptions: { ...launchOptions, executablePath: headlessShell() } },
    },
    // The headless shell has no notifications.
    { name: "push", testMatch: "push.spec.ts" },
    { name: "shots", testMatch: "*.shots.ts" },
    { name: "bench", testMatch: "*.bench.ts" },
    { name: "accept", testMatch: "*.accept.ts" },
    { name: "installed", testMatch: "*.phone.ts" },
  ],
});
