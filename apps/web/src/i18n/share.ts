import type en from "./en/share.json";
import messages from "./en/share.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("share", messages);
