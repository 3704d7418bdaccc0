import { createContext } from "react";

/** The code of the link that opened the page, until it was used. */
export interface LinkCode {
  current: string | null;
}

export const LinkCodeContext = createContext<LinkCode>({ current: null });
