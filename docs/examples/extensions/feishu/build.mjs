// Makes the extension in dist: one file with the SDK in it, so that nothing is installed later.
import { copyFile } from "node:fs/promises";
import { build } from "esbuild";

await build({
  entryPoints: ["server.mjs"],
  outfile: "dist/server.cjs",
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  minify: true,
  legalComments: "linked",
  logLevel: "warning",
});
await copyFile("extension.json", "dist/extension.json");
