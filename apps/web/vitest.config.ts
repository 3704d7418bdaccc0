import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { catalog } from "./scripts/catalog.ts";

export default defineConfig({
  plugins: [catalog(), react()],
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}", "test-support/**/*.test.ts"],
    exclude: ["e2e/**", "node_modules/**", "dist/**"],
    restoreMocks: true,
    // By default one processor is left for the rest, which is half of two.
    maxWorkers: "100%",
    // A wait in vain is ended by this; a busy machine is not.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 110_000 } },
  },
});
