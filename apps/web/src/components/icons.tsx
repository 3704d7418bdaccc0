import { icon } from "./shell-icons";

// The icons of the first page are separate, so that it loads no others.
export * from "./shell-icons";

export const ArchiveIcon = icon("Archive", <path d="M3 4h14v3.5H3zM4.5 7.5V16h11V7.5M8 10.5h4" />);
export const AttachIcon = icon(
  "Attach",
  <path d="m15.500 9-5.800 5.800a3.400 3.400 0 0 1-4.800-4.800l6.200-6.200a2.300 2.300 0 0 1 3.200 3.200l-6.100 6.100a1.100 1.100 0 0 1-1.600-1.600l5.400-5.400" />,
);
export const ArrowUpIcon = icon("ArrowUp", <path d="M10 16V4.5M5 9.5l5-5 5 5" />);
export const ArrowDownIcon = icon("ArrowDown", <path d="M10 4v11.5M5 10.5l5 5 5-5" />);
export const FilesIcon = icon(
  "Files",
  <path d="M11 3H5.5A1.5 1.5 0 0 0 4 4.500v11A1.500 1.500 0 0 0 5.500 17h9a1.500 1.500 0 0 0 1.500-1.500V8zM11 3v5h5M10 10.500v4M8 12.500h4" />,
);
export const BranchIcon = icon(
  "Branch",
  <>
    <circle cx="6" cy="4.5" r="1.8" />
    <circle cx="6" cy="15.5" r="1.8" />
    <circle cx="14" cy="7" r="1.8" />
    <path d="M6 6.3v7.4M14 8.8c0 3-8 1.7-8 4.9" />
  </>,
);
export const CameraIcon = icon(
  "Camera",
  <>
    <path d="M3 6.5h3l1.5-2h5l1.5 2h3v9H3z" />
    <circle cx="10" cy="11" r="2.6" />
  </>,
);
export const CheckIcon = icon("Check", <path d="m4.5 10.5 3.7 3.7 7.3-8" />);
export const ChevronDownIcon = icon("ChevronDown", <path d="m5 7.5 5 5 5-5" />);
export const ChevronRightIcon = icon("ChevronRight", <path d="m7.5 5 5 5-5 5" />);
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
export const PinIcon = icon("Pin", <path d="M7 3h6M8 3v5l-2.5 3.5h9L12 8V3M10 11.5V17" />);
export const QuestionIcon = icon(
  "Question",
  <path d="M3.5 4.5h13v9.5H10l-3.5 3v-3h-3zM8 7.8A2 2 0 1 1 10 10m0 1.8v.1" />,
);
export const ShieldIcon = icon(
  "Shield",
  <path d="M10 2.8 4 5v4.5c0 3.8 2.5 6.5 6 7.7 3.5-1.2 6-3.9 6-7.7V5zM10 7v3.5m0 2.7v.1" />,
);
export const SplitIcon = icon(
  "Split",
  <>
    <rect x="3" y="4" width="14" height="12" rx="1.5" />
    <path d="M10 4v12" />
  </>,
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
