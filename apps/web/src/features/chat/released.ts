// What let a call go that nobody answered, in words.
import type { Release } from "../../api/types";

/** As in "Allowed by the rule bash(make)". */
export function releasedBy({ rules, mode }: Release): string {
  const what: string[] = [];
  if (rules?.length === 1) what.push(`the rule ${rules[0]}`);
  else if (rules?.length) what.push(`the rules ${rules.join(", ")}`);
  if (mode) what.push(`the mode ${mode}`);
  return what.length > 0 ? `by ${what.join(" and ")}` : "because no rule asks about it any more";
}
