import type { Grant, HostInfo } from "../../api/types";
import { ShieldIcon } from "../../components/icons";
import { Notice } from "../../components/Notice";
import { t } from "../../i18n/device";
import { locale } from "../../i18n/i18n";
import { isLimited } from "../shared/grants";

const usual: readonly Grant[] = ["prompt", "approve", "files", "manage"];

/** Shows what this browser may not do on the host; renders nothing if it has the access that pairing gives. */
export function OwnAccess({ info }: { info: HostInfo }) {
  const lacks = usual.filter((grant) => !info.grants.includes(grant)).map(nameOf);
  const ends = info.limits?.expiresAt;
  if (lacks.length === 0 && !ends && !isLimited(info)) {
    return null;
  }
  const things = new Intl.ListFormat(locale(), { type: "disjunction" }).format(lacks);
  const said = [
    isLimited(info) ? t("device.ownAccess.someProjects") : "",
    lacks.length > 0 ? t("device.ownAccess.cannot", { things }) : "",
    ends ? t("device.ownAccess.until", { time: moment(ends) }) : "",
  ];
  return (
    <Notice data-testid="own-access" icon={<ShieldIcon />} title={t("device.ownAccess.title")}>
      {said.filter(Boolean).join(" ")}
    </Notice>
  );
}

function moment(at: number): string {
  return new Date(at).toLocaleString(locale(), { dateStyle: "medium", timeStyle: "short" });
}

function nameOf(grant: Grant): string {
  switch (grant) {
    case "prompt":
      return t("device.ownAccess.prompt");
    case "approve":
      return t("device.ownAccess.approve");
    case "files":
      return t("device.ownAccess.files");
    default:
      return t("device.ownAccess.manage");
  }
}
