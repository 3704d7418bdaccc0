// A repository with uncommitted files of every kind, a history and branches.
import type { FileChange, GitCommitInfo, GitFile } from "../src/api/types";
import type { FakeHost } from "../src/app/testing/fake-scorel";
import { unbroken } from "./texts";

const hour = 3_600_000;

const files: GitFile[] = [
  { path: ".env", status: "modified" },
  { path: "docs/queues.md", status: "added", untracked: true },
  { path: "logo.png", status: "added", staged: true },
  { path: "relay/old.go", status: "deleted" },
  { path: "relay/queue.go", status: "modified", staged: true },
  { path: unbroken.slice(8, 120), from: "short.txt", status: "renamed", staged: true },
];

const changes: FileChange[] = [
  { path: ".env", status: "modified", closed: true },
  { path: "docs/queues.md", status: "added", added: 24 },
  { path: "logo.png", status: "added", binary: true },
  { path: "relay/old.go", status: "deleted", removed: 112 },
  { path: "relay/queue.go", status: "modified", added: 3, removed: 1 },
  { path: unbroken.slice(8, 120), from: "short.txt", status: "renamed" },
];

const diff = `--- a/relay/queue.go
+++ b/relay/queue.go
@@ -10,7 +10,9 @@ import "errors"

 // push adds a frame.
 func (q *queue) push(f frame) error {
-	q.frames = append(q.frames, f)
+	if len(q.frames) == cap(q.frames) {
+		return errFull
+	}
 	return nil
 }
`;

function commits(): GitCommitInfo[] {
  const subjects = [
    "relay: close the slow channel of a full queue",
    "relay: bound the queue of each channel",
    `web: ${unbroken}`,
    "docs: describe every queue, who fills it and what empties it, and what happens to the frames when it is full",
    "Initial commit",
  ];
  return subjects.map((subject, i) => ({
    id: `${(i + 11).toString(16)}7d0e5c`.repeat(5).slice(0, 40),
    author: i % 2 ? "Grace Hopper" : "Ada Lovelace",
    at: Date.now() - (i * i * 30 + 1) * hour,
    subject,
    ...(i === 1 ? { body: "A client that does not read must not\ncost the memory of all others." } : {}),
  }));
}

/** Makes the folders of a machine a repository. */
export function inRepository(host: FakeHost): void {
  host.handlers.git_status = () => ({
    repository: true,
    branch: "fix/queues",
    head: commits()[0]?.id ?? "",
    upstream: "origin/fix/queues",
    ahead: 2,
    behind: 1,
    files,
  });
  host.handlers.git_diff = ({ path = "" }) => ({
    files: path === "" ? changes : changes.filter((file) => file.path === path).map((file) => ({ ...file, diff })),
  });
  host.handlers.git_log = () => ({ commits: commits(), next: "0" });
  host.handlers.git_branches = () => ({
    branches: [
      {
        name: "fix/queues",
        head: commits()[0]?.id ?? "",
        upstream: "origin/fix/queues",
        at: Date.now(),
        current: true,
      },
      { name: "main", head: commits()[1]?.id ?? "", upstream: "origin/main", at: Date.now() - 31 * hour },
    ],
  });
  host.handlers.git_commit = () => ({ commit: "f00dbabe00000000000000000000000000000000" });
}
