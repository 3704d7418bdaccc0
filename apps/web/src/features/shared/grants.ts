import type { Grant, HostInfo } from "../../api/types";

/** Reports whether the host allows this browser an action. Until the grants are known, the host decides. */
export function may(info: HostInfo | null, grant: Grant): boolean {
  return info === null || info.grants.includes(grant);
}

/** Reports whether this browser may change the settings of all projects. */
export function mayManageAll(info: HostInfo | null): boolean {
  return may(info, "manage") && !isLimited(info);
}

/** Reports whether this browser sees only some of the projects. */
export function isLimited(info: HostInfo | null): boolean {
  return Boolean(info?.limits?.projects?.length);
}
