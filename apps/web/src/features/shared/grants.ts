import type { Grant, HostInfo } from "../../api/types";

/** What the machine lets this browser do. Until it has told, the machine is the one to refuse. */
export function may(info: HostInfo | null, grant: Grant): boolean {
  return info === null || info.grants.includes(grant);
}

/** Whether it lets this browser change what all its projects have in common. */
export function mayManageAll(info: HostInfo | null): boolean {
  return may(info, "manage") && !isLimited(info);
}

/** This browser sees only some of the projects. */
export function isLimited(info: HostInfo | null): boolean {
  return Boolean(info?.limits?.projects?.length);
}
