/** What servers are asked about a project's builds. */
import type { Build } from "@weft/client"
import { Effect } from "effect"
import { Api } from "../connection/Api.ts"
import type { Failure } from "../Failure.ts"
import { type Offer, offerOf } from "./Offer.ts"
import type { Reader } from "./Reading.ts"

/** The project of this name is there afterwards. Gives whether it was made just now. */
export const ensureProject = Effect.fnUntraced(function* (name: string) {
  const { ask } = yield* Api
  const found = yield* orNull(ask((weft, asking) => weft.projects.get(name, asking)))
  if (found !== null) return false
  yield* ask((weft, asking) => weft.projects.create({ name }, asking))
  return true
})

/** Null when nothing is deployed, or there is no such project. */
export const deployedBuild = Effect.fnUntraced(function* (project: string) {
  const { ask } = yield* Api
  return yield* orNull(ask((weft, asking) => weft.builds.deployed(project, asking)))
})

/** What a stored build offers. */
export const offerOfStored = Effect.fnUntraced(function* (reader: Reader, project: string, { build_id }: Build) {
  const { ask } = yield* Api
  const zip = yield* ask(async (weft, asking) => {
    const response = await weft.builds.download(project, build_id, asking)
    return new Uint8Array(await response.arrayBuffer())
  })
  return offerOf(yield* reader.read(zip))
})

/** What is offered now: nothing before the first deployment. */
export const offerOfDeployed = Effect.fnUntraced(function* (reader: Reader, project: string, deployed: Build | null) {
  const nothing: Offer = []
  return deployed === null ? nothing : yield* offerOfStored(reader, project, deployed)
})

const orNull = <A>(found: Effect.Effect<A, Failure>): Effect.Effect<A | null, Failure> =>
  Effect.catchIf(
    found,
    ({ code }) => code === "not_found",
    () => Effect.succeed(null)
  )
