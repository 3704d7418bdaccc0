import type en from "./en/search.json";
import messages from "./en/search.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("search", messages);
