import { Link } from "@tanstack/react-router";
import { SearchIcon } from "../components/icons";
import { EmptyState } from "../components/Notice";

export function NotFound() {
  return (
    <EmptyState
      icon={<SearchIcon />}
      title="There is no such page"
      actions={
        <Link to="/" className="font-medium text-accent underline underline-offset-2">
          Go to your devices
        </Link>
      }
    >
      The address may be mistyped, or it belongs to another version.
    </EmptyState>
  );
}
