/** Requests about a project and its builds. */
import type { Build } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../connection/Api.ts"
import type { Failure } from "../Failure.ts"
import { type EntryPoints, listEntryPoints } from "./EntryPoints.ts"
import type { ManifestReader } from "./ManifestReader.ts"

/** Creates the project if it does not exist. Returns true if it created one. */
export const ensureProject = Effect.fnUntraced(function* (name: string) {
  const { request } = yield* Api
  const found = yield* nullIfNotFound(request((weft, options) => weft.projects.get(name, options)))
  if (found !== null) return false
  yield* request((weft, options) => weft.projects.create({ name }, options))
  return true
})

/** Returns the deployed build; null if the project has none or does not exist. */
export const getDeployedBuild = Effect.fnUntraced(function* (project: string) {
  const { request } = yield* Api
  return yield* nullIfNotFound(request((weft, options) => weft.builds.deployed(project, options)))
})

/** Downloads the zip of a build. */
export const downloadBuild = Effect.fnUntraced(function* (project: string, buildId: string) {
  const { request } = yield* Api
  return yield* request(async (weft, options) => {
    const response = await weft.builds.download(project, buildId, options)
    return new Uint8Array(await response.arrayBuffer())
  })
})

/** Downloads a build and lists its entry points. */
export const readStoredEntryPoints = Effect.fnUntraced(function* (
  reader: ManifestReader,
  project: string,
  { build_id }: Build
) {
  return listEntryPoints(yield* reader.read(yield* downloadBuild(project, build_id)))
})

/** Lists the entry points of the deployed build; none before the first deployment. */
export const readDeployedEntryPoints = Effect.fnUntraced(function* (
  reader: ManifestReader,
  project: string,
  deployed: Build | null
) {
  const nothing: EntryPoints = []
  return deployed === null ? nothing : yield* readStoredEntryPoints(reader, project, deployed)
})

const nullIfNotFound = <A>(found: Effect.Effect<A, Failure>): Effect.Effect<A | null, Failure> =>
  Effect.catchIf(
    found,
    ({ code }) => code === "not_found",
    () => Effect.succeed(null)
  )
