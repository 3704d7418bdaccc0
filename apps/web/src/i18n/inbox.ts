import type en from "./en/inbox.json";
import messages from "./en/inbox.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("inbox", messages);
