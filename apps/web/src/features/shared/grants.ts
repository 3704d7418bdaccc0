import type { Grant, HostInfo } from "../../api/types";

/** What the machine lets this browser do. Until it has told, the machine is the one to refuse. */
export function may(info: HostInfo | null, grant: Grant): boolean {
  return info === null || info.grants.includes(grant);
}
