// Makes the package that is published, in dist/: JavaScript and type declarations for every module. In the repository
// the modules are imported as TypeScript, so dist/ has a package.json of its own. `npm pack ./dist` packs it.
//
//	node scripts/package.mjs [VERSION]
import { execFileSync } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";

process.chdir(new URL("..", import.meta.url).pathname);
const [version = "0.0.0"] = process.argv.slice(2);
const { name, license, type, sideEffects, description, exports } = JSON.parse(readFileSync("package.json", "utf8"));

rmSync("dist", { recursive: true, force: true });
execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", "tsconfig.build.json"], { stdio: "inherit" });

const published = Object.fromEntries(
  Object.entries(exports).map(([path, source]) => {
    const built = source.replace(/^\.\/src\/(.*)\.ts$/, "./$1");
    return [path, { types: `${built}.d.ts`, default: `${built}.js` }];
  }),
);
const manifest = {
  name,
  version,
  license,
  type,
  sideEffects,
  description,
  repository: { type: "git", url: "git+https://github.com/scorel/scorel.git", directory: "packages/protocol/ts" },
  engines: { node: ">=20" },
  exports: published,
};
writeFileSync("dist/package.json", `${JSON.stringify(manifest, null, 2)}\n`);
copyFileSync("README.md", "dist/README.md");
copyFileSync("../../../LICENSE", "dist/LICENSE");
