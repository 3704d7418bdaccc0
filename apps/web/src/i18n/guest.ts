import type en from "./en/guest.json";
import messages from "./en/guest.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("guest", messages);
