import type { ReactNode, SVGProps } from "react";
import { cx } from "./cx";

// Drawn on a 20 x 20 grid with one line width, so that they sit together. An icon
// only decorates: the control that holds it carries the label.
export type IconProps = Omit<SVGProps<SVGSVGElement>, "children">;

function icon(name: string, shape: ReactNode) {
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

export const ArrowUpIcon = icon("ArrowUp", <path d="M10 16V4.5M5 9.5l5-5 5 5" />);
export const ArrowDownIcon = icon("ArrowDown", <path d="M10 4v11.5M5 10.5l5 5 5-5" />);
export const BackIcon = icon("Back", <path d="M12.5 4 6.5 10l6 6" />);
export const BranchIcon = icon(
  "Branch",
  <>
    <circle cx="6" cy="4.5" r="1.8" />
    <circle cx="6" cy="15.5" r="1.8" />
    <circle cx="14" cy="7" r="1.8" />
    <path d="M6 6.3v7.4M14 8.8c0 3-8 1.7-8 4.9" />
  </>,
);
export const CheckIcon = icon("Check", <path d="m4.5 10.5 3.7 3.7 7.3-8" />);
export const ChevronDownIcon = icon("ChevronDown", <path d="m5 7.5 5 5 5-5" />);
export const ChevronRightIcon = icon("ChevronRight", <path d="m7.5 5 5 5-5 5" />);
export const ClockIcon = icon(
  "Clock",
  <>
    <circle cx="10" cy="10" r="7" />
    <path d="M10 6v4.3l2.7 1.7" />
  </>,
);
export const CloseIcon = icon("Close", <path d="m5 5 10 10M15 5 5 15" />);
export const CopyIcon = icon(
  "Copy",
  <>
    <rect x="7" y="7" width="9.5" height="9.5" rx="1.5" />
    <path d="M13 4.5A1.5 1.5 0 0 0 11.5 3.5H5A1.5 1.5 0 0 0 3.5 5v6.5A1.5 1.5 0 0 0 4.5 13" />
  </>,
);
export const EditIcon = icon(
  "Edit",
  <path d="m4 16 .8-3.5L13 4.3a1.5 1.5 0 0 1 2.1 0l.6.6a1.5 1.5 0 0 1 0 2.1L7.5 15.2zM11.5 5.8l2.7 2.7" />,
);
export const FileIcon = icon(
  "File",
  <path d="M11.5 2.5H6A1.5 1.5 0 0 0 4.5 4v12A1.5 1.5 0 0 0 6 17.5h8a1.5 1.5 0 0 0 1.5-1.5V6.5zm0 0v4h4" />,
);
export const FolderIcon = icon(
  "Folder",
  <path d="M2.5 15V5.5A1.5 1.5 0 0 1 4 4h3.7l2 2.3H16a1.5 1.5 0 0 1 1.5 1.5V15A1.5 1.5 0 0 1 16 16.5H4A1.5 1.5 0 0 1 2.5 15z" />,
);
export const HomeIcon = icon("Home", <path d="m3 9.5 7-6 7 6M5 8v8.5h10V8" />);
export const LinkIcon = icon(
  "Link",
  <path d="M8.5 11.5a3.2 3.2 0 0 0 4.6 0l2.5-2.5A3.250 3.250 0 0 0 11 4.4l-.8.8m1.3 3.3a3.2 3.2 0 0 0-4.6 0L4.4 11A3.250 3.250 0 0 0 9 15.6l.8-.8" />,
);
export const MachineIcon = icon(
  "Machine",
  <>
    <rect x="3" y="4" width="14" height="9.5" rx="1.5" />
    <path d="M7 16.5h6" />
  </>,
);
export const MoreIcon = icon(
  "More",
  <>
    <circle cx="4.5" cy="10" r="1" />
    <circle cx="10" cy="10" r="1" />
    <circle cx="15.5" cy="10" r="1" />
  </>,
);
export const PlusIcon = icon("Plus", <path d="M10 4.5v11M4.5 10h11" />);
export const QuestionIcon = icon(
  "Question",
  <path d="M3.5 4.5h13v9.5H10l-3.5 3v-3h-3zM8 7.8A2 2 0 1 1 10 10m0 1.8v.1" />,
);
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
export const ShieldIcon = icon(
  "Shield",
  <path d="M10 2.8 4 5v4.5c0 3.8 2.5 6.5 6 7.7 3.5-1.2 6-3.9 6-7.7V5zM10 7v3.5m0 2.7v.1" />,
);
export const StopIcon = icon(
  "Stop",
  <rect x="5.5" y="5.5" width="9" height="9" rx="1.5" fill="currentColor" stroke="none" />,
);
export const TerminalIcon = icon("Terminal", <path d="m4 6 4 4-4 4M10 14.5h6" />);
export const TrashIcon = icon(
  "Trash",
  <path d="M3.5 5.5h13M8 5.5v-2h4v2M5.5 5.5 6.2 16a1 1 0 0 0 1 .9h5.6a1 1 0 0 0 1-.9l.7-10.5" />,
);
export const WarningIcon = icon("Warning", <path d="M10 3 2.5 16.5h15zM10 8.5V12m0 2.2v.1" />);
