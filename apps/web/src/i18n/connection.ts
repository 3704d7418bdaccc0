import type en from "./en/connection.json";
import messages from "./en/connection.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("connection", messages);
