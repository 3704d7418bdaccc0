import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { catalog } from "./scripts/catalog.ts";
import { groups } from "./scripts/chunks.ts";
import { sessionPageOf } from "./scripts/session-page.ts";
import { shell } from "./scripts/shell.ts";

/** Lets the development server show a scene again after its page has been reloaded, whose address is that of the app. */
function scenes(): Plugin {
  return {
    name: "scenes",
    configureServer: ({ middlewares }) => {
      middlewares.use((request, _response, next) => {
        if (new URL(request.url ?? "/", "http://scenes").searchParams.has("scene")) {
          request.url = "/dev/index.html";
        }
        next();
      });
    },
  };
}

// The relay serves dist/ under a policy of script-src 'self' and style-src
// 'self': nothing may be inlined, not even a small asset as a data: URL.
export default defineConfig({
  plugins: [catalog(), react(), tailwindcss(), sessionPageOf(), shell(), scenes()],
  base: "/",
  resolve: {
    // The router asks for a hook of React by way of a package for older Reacts.
    alias: [{ find: /^use-sync-external-store\/shim\/index\.js$/, replacement: "react" }],
  },
  build: {
    target: "es2023",
    assetsDir: "assets",
    assetsInlineLimit: 0,
    manifest: true,
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: groups() } } },
  },
  worker: {
    format: "es",
    plugins: () => [catalog()],
    rolldownOptions: {
      output: {
        // Grammars are told apart by their names: they are fetched as they are needed, and kept once they were used.
        chunkFileNames: ({ moduleIds }) =>
          moduleIds.some((id) => /shiki/.test(id)) ? "assets/highlight-[name]-[hash].js" : "assets/[name]-[hash].js",
      },
    },
  },
  server: { host: "127.0.0.1" },
});
