import type en from "./en/status.json";
import messages from "./en/status.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("status", messages);
