import type { ReactNode } from "react";
import { Link } from "wouter";
import { BackIcon } from "../../components/shell-icons";
import { t } from "../../i18n/shared";
import { useIsBehind } from "./kept";
import { LinkLight } from "./LinkLight";
import { useWide } from "./use-media";

export interface PageHeaderProps {
  title: ReactNode;
  subtitle?: ReactNode;
  /** The address that the back arrow on a phone opens. */
  back?: string;
  actions?: ReactNode;
}

export function PageHeader({ title, subtitle, back, actions }: PageHeaderProps) {
  const wide = useWide();
  const isBehind = useIsBehind();
  return (
    <header className="safe-t shrink-0 border-line border-b bg-bg">
      <div className="flex min-h-14 items-center gap-0.5 px-2 md:gap-2 md:px-5">
        {back && !wide ? (
          <Link
            to={back}
            onClick={(event) => {
              // Goes back to the page as it was left, not to a new copy of it.
              if (isBehind(back)) {
                event.preventDefault();
                history.back();
              }
            }}
            aria-label={t("shared.pageHeader.back")}
            className="touchable grid aspect-square shrink-0 place-items-center rounded-md text-muted text-xl hover:bg-sunken"
          >
            <BackIcon />
          </Link>
        ) : (
          <span className="w-1 md:hidden" />
        )}
        <div className="min-w-0 flex-1 py-1.5">
          <h1
            dir="auto"
            className="text-left font-semibold leading-tight [overflow-wrap:anywhere] max-md:line-clamp-2 md:truncate"
          >
            {title}
          </h1>
          {subtitle ? <div className="truncate text-faint text-xs leading-5">{subtitle}</div> : null}
        </div>
        {actions}
        {wide ? null : <LinkLight compact />}
      </div>
    </header>
  );
}
