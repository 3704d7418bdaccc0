import { Link } from "wouter";
import { EmptyState } from "../components/Notice";
import { SearchIcon } from "../components/shell-icons";
import { t } from "../i18n/app";

export function NotFound() {
  return (
    <main>
      <EmptyState
        icon={<SearchIcon />}
        title={t("app.notFound.pageNotFound")}
        actions={
          <Link to="/" className="font-medium text-accent underline underline-offset-2">
            {t("app.notFound.goToYourMachines")}
          </Link>
        }
      >
        {t("app.notFound.explanation")}
      </EmptyState>
    </main>
  );
}
