import type en from "./en/move.json";
import messages from "./en/move.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("move", messages);
