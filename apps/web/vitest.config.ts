import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  test: {
    environment: "jsdom",
    include: ["src/**/*.test.{ts,tsx}", "test-support/**/*.test.ts"],
    exclude: ["e2e/**", "node_modules/**", "dist/**"],
    restoreMocks: true,
    // A wait in vain is ended by this; a busy machine is not.
    testTimeout: 30_000,
  },
});
