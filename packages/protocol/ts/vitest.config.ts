import { defineConfig } from "vitest/config";

// A wait in vain is ended by these; a busy machine is not.
export default defineConfig({ test: { testTimeout: 120_000, hookTimeout: 120_000 } });
