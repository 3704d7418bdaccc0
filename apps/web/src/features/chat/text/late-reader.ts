import { createContext, type ReactElement } from "react";
import { late } from "../../shared/late";

/** Renders a piece of Markdown. `grows` means that more of it follows. */
export type Reader = (text: string, grows: boolean) => ReactElement;

/** The Markdown parser. Until it is loaded, texts are shown as written. */
export const lateReader = late<Reader>(async () => (await import("./reader")).readMarkdown);

/** The parser for the texts within, which are rendered again once it is loaded. */
export const ReaderContext = createContext<Reader | null>(null);
