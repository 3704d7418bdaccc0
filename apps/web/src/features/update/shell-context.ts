import { createContext } from "react";
import type { Shell } from "../../api/shell";

/** Caches the page's own files: "page" starts it, null disables it. */
export const ShellContext = createContext<Shell | "page" | null>(null);
