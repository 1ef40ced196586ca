/** Endpoints of a project in memory, which no other project of the environment may have. */
import type { ProjectId } from "../foundation/Ids.ts"
import { endpointName } from "../resources/builds/Manifest.ts"
import type { MemoryDatabase } from "./MemoryDatabase.ts"

/** Returns the endpoints of a project: of its deployed build, its live build and its canary. */
export const listEndpoints = (
  { deployments, liveBuilds, canaries }: MemoryDatabase["Service"],
  projectId: ProjectId
): ReadonlyArray<string> => {
  const latest = canaries.get(projectId)
  const manifests = [deployments.get(projectId)?.manifest, liveBuilds.get(projectId)?.manifest]
  if (latest?.canary.state === "active") manifests.push(latest.manifest)
  return manifests.flatMap((manifest) => manifest?.endpoints.map(endpointName) ?? [])
}
