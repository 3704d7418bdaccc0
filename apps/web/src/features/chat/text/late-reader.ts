import { createContext, type ReactElement } from "react";
import { late } from "../../shared/late";

/** Draws a piece of Markdown. More of it comes if it grows. */
export type Reader = (text: string, grows: boolean) => ReactElement;

/** The reader of Markdown. Texts are shown as they were written until it is here. */
export const lateReader = late<Reader>(async () => (await import("./reader")).readMarkdown);

/** The reader of the texts within. They are drawn again when it comes. */
export const ReaderContext = createContext<Reader | null>(null);
