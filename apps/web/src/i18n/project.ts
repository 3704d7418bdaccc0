import type en from "./en/project.json";
import messages from "./en/project.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("project", messages);
