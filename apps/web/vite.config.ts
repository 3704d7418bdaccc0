import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The relay serves dist/ under a policy of script-src 'self' and style-src
// 'self': nothing may be inlined, not even a small asset as a data: URL.
export default defineConfig({
  plugins: [react(), tailwindcss()],
  base: "/",
  build: {
    target: "es2023",
    assetsDir: "assets",
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
  },
  worker: { format: "es" },
  server: { host: "127.0.0.1" },
});
