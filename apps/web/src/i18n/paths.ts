import type en from "./en/paths.json";
import messages from "./en/paths.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("paths", messages);
