import type en from "./en/update.json";
import messages from "./en/update.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("update", messages);
