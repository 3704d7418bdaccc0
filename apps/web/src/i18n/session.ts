import type en from "./en/session.json";
import messages from "./en/session.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("session", messages);
