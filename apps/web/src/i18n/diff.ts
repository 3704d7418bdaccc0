import type en from "./en/diff.json";
import messages from "./en/diff.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("diff", messages);
