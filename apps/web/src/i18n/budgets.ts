import type en from "./en/budgets.json";
import messages from "./en/budgets.json?messages";
import { translator } from "./i18n";

export const t = translator<keyof typeof en>("budgets", messages);
