import type en from "./en/terminal.json";
import messages from "./en/terminal.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("terminal", messages);
