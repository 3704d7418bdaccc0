import { createContext } from "react";
import type { Shell } from "../../api/shell";

/** What keeps the page's own files: "page" starts it, null is none. */
export const ShellContext = createContext<Shell | "page" | null>(null);
