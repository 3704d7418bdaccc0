import type en from "./en/changes.json";
import messages from "./en/changes.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("changes", messages);
