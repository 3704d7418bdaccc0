import type { OutputBundle } from "rolldown";
import type { Plugin } from "vite";

/** The page that is served at the address of a session. */
export const sessionPage = "session.html";

/** Loaded by the first script of every page. */
const app = "/src/app/main.tsx";
const session = "/src/features/chat/ChatPage.tsx";

/**
 * Names the files of the first load in the page, so that the browser fetches them together instead of when the
 * importing code runs. Creates a second page for the addresses of sessions, which also names the files of a session.
 */
export function sessionPageOf(): Plugin {
  return {
    name: "scorel-session-page",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        const page = bundle["index.html"];
        if (page?.type !== "asset") {
          return; // a build of something else, such as the gallery
        }
        const html = String(page.source);
        page.source = withFiles(html, filesOf(bundle, [app]));
        const source = withFiles(html, filesOf(bundle, [app, session]));
        this.emitFile({ type: "asset", fileName: sessionPage, source });
      },
    },
  };
}

/** Returns the scripts that contain these modules, and everything that they import. */
function filesOf(bundle: OutputBundle, modules: readonly string[]): Set<string> {
  const files = new Set<string>();
  const walk = (file: string): void => {
    const chunk = bundle[file];
    if (chunk?.type === "chunk" && !files.has(file)) {
      files.add(file);
      chunk.imports.forEach(walk);
    }
  };
  for (const module of modules) {
    const holds = (ids: readonly string[]) => ids.some((id) => id.endsWith(module));
    const chunk = Object.values(bundle).find((each) => each.type === "chunk" && holds(each.moduleIds));
    if (!chunk) {
      throw new Error(`no file of the build holds ${module}`);
    }
    walk(chunk.fileName);
  }
  return files;
}

function withFiles(html: string, files: ReadonlySet<string>): string {
  const missing = [...files].filter((file) => !html.includes(`"/${file}"`));
  const links = missing.map((file) => `    <link rel="modulepreload" crossorigin href="/${file}">\n`);
  return html.replace("  </head>", () => `${links.join("")}  </head>`);
}
