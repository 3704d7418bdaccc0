import { defineConfig } from "vitest/config";

// Generous: they end only tests that hang, not slow ones on a busy machine.
export default defineConfig({ test: { testTimeout: 120_000, hookTimeout: 120_000 } });
