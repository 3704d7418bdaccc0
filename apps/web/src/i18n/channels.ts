import type en from "./en/channels.json";
import messages from "./en/channels.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("channels", messages);
