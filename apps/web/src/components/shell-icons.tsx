import type { ReactNode, SVGProps } from "react";
import { cx } from "./cx";

// Drawn on a 20 x 20 grid with one line width, so that they look alike. An icon is decorative only: the control that
// contains it has the label.
export type IconProps = Omit<SVGProps<SVGSVGElement>, "children">;

export function icon(name: string, shape: ReactNode) {
  // biome-ignore lint/correctness/noComponentHookFactories: it is called once for each icon, while the module loads
  const Icon = (props: IconProps) => (
    <svg
      viewBox="0 0 20 20"
      width="1.125em"
      height="1.125em"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
      {...props}
      className={cx("shrink-0", props.className)}
    >
      {shape}
    </svg>
  );
  Icon.displayName = `${name}Icon`;
  return Icon;
}

export const BackIcon = icon("Back", <path d="M12.5 4 6.5 10l6 6" />);
export const ClockIcon = icon(
  "Clock",
  <>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 6v4.3l2.7 1.7" />
  </>,
);
export const CloseIcon = icon("Close", <path d="m5 5 10 10M15 5 5 15" />);
export const InboxIcon = icon("Inbox", <path d="M3 11.5 5.5 4h9l2.5 7.5V16H3zm0 0h4l1 2h4l1-2h4" />);
export const PlusIcon = icon("Plus", <path d="M10 4.5v11M4.5 10h11" />);
export const RefreshIcon = icon("Refresh", <path d="M16 10a6 6 0 1 1-1.8-4.3L16 7.5M16 3.5v4h-4" />);
export const SearchIcon = icon(
  "Search",
  <>
    <circle cx="9" cy="9" r="5" />
    <path d="m12.8 12.8 3.7 3.7" />
  </>,
);
export const SettingsIcon = icon(
  "Settings",
  <>
    <path d="M3 6h6.5M14 6h3M3 14h3M10.5 14H17" />
    <circle cx="11.8" cy="6" r="2.2" />
    <circle cx="8.2" cy="14" r="2.2" />
  </>,
);
export const WarningIcon = icon("Warning", <path d="M10 3 2.5 16.5h15zM10 8.5V12m0 2.2v.1" />);
