import type { Plugin } from "vite";

/** The page that is served at the address of a session. */
export const sessionPage = "session.html";

const root = "/src/features/chat/ChatPage.tsx";

/**
 * Makes a second page for the addresses of sessions. It is the first page that also names the files of a session: the
 * browser fetches them with the others, and not once the code that asks for them has run.
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
        const links: string[] = [];
        const seen = new Set<string>();
        const walk = (file: string): void => {
          const chunk = bundle[file];
          if (chunk?.type !== "chunk" || seen.has(file)) {
            return;
          }
          seen.add(file);
          links.push(`<link rel="modulepreload" crossorigin href="/${file}">`);
          for (const css of chunk.viteMetadata?.importedCss ?? []) {
            links.push(`<link rel="stylesheet" crossorigin href="/${css}">`);
          }
          chunk.imports.forEach(walk);
        };
        const session = Object.values(bundle).find(
          (each) => each.type === "chunk" && each.facadeModuleId?.endsWith(root),
        );
        if (!session) {
          throw new Error(`no file of the build begins with ${root}`);
        }
        walk(session.fileName);
        const missing = links.filter((link) => !html.includes(link));
        const source = html.replace("  </head>", () => `${missing.map((link) => `    ${link}\n`).join("")}  </head>`);
        this.emitFile({ type: "asset", fileName: sessionPage, source });
      },
    },
  };
}
