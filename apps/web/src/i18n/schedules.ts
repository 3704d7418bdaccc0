import type en from "./en/schedules.json";
import messages from "./en/schedules.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("schedules", messages);
