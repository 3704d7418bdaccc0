import { lazy } from "react";
import { LazyPart } from "../shared/MissingPart";
import { chunk } from "../shared/missing-chunk";
import type { ProjectSheetProps } from "./ProjectSheet";

const ProjectSheet = lazy(chunk(() => import("./ProjectSheet")));

/** The settings of a project. They are loaded when opened, which is rare. */
export function ProjectSettings(props: ProjectSheetProps) {
  return (
    <LazyPart onClose={props.onClose}>
      <ProjectSheet {...props} />
    </LazyPart>
  );
}
