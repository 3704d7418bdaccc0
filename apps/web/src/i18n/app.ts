import type en from "./en/app.json";
import messages from "./en/app.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("app", messages);
