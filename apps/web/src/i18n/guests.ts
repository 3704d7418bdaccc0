import type en from "./en/guests.json";
import messages from "./en/guests.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("guests", messages);
