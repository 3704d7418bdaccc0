import type en from "./en/settings.json";
import messages from "./en/settings.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("settings", messages);
