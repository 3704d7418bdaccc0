// @vitest-environment node
import { join } from "node:path";
import { build, type Rolldown } from "vite";
import { expect, it } from "vitest";
import { catalog } from "../../scripts/catalog.ts";

it("a build has the messages without their ids and without a parser", async () => {
  const entry = join(import.meta.dirname, "../features/chat/mode/released.ts");
  const built = await build({
    configFile: false,
    logLevel: "error",
    plugins: [catalog()],
    define: { "process.env.NODE_ENV": '"production"' },
    build: { write: false, minify: false, lib: { entry, formats: ["es"], fileName: "released" } },
  });
  const [{ output }] = built as [Rolldown.RolldownOutput];
  const { code } = output[0];
  expect(code).not.toMatch(/chat\.mode\.|Plural offset/);
  const { releasedBy } = await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`);
  expect(releasedBy({ rules: ["bash(make)"], mode: "auto" })).toBe(
    "by the rule bash(make) and the permission mode “Auto”",
  );
});
