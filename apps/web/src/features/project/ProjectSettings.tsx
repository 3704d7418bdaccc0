import { lazy } from "react";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import type { ProjectSheetProps } from "./ProjectSheet";

const ProjectSheet = lazy(chunk(() => import("./ProjectSheet")));

/** What belongs to a project as a whole. It comes when it is opened: few people do, and seldom. */
export function ProjectSettings(props: ProjectSheetProps) {
  return (
    <LazyPart onClose={props.onClose}>
      <ProjectSheet {...props} />
    </LazyPart>
  );
}
