import { lazy, Suspense } from "react";
import type { ProjectSheetProps } from "./ProjectSheet";

const ProjectSheet = lazy(() => import("./ProjectSheet"));

/** What belongs to a project as a whole. It comes when it is opened: few people do, and seldom. */
export function ProjectSettings(props: ProjectSheetProps) {
  return (
    <Suspense>
      <ProjectSheet {...props} />
    </Suspense>
  );
}
