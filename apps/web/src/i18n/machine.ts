import type en from "./en/machine.json";
import messages from "./en/machine.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("machine", messages);
