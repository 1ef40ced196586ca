/** Live builds of `weft dev`. */
import { Cause, Clock, Effect, Fiber, FiberHandle, Option, Ref } from "effect"
import type { Bundle, Bundler } from "../../bundle/Bundle.ts"
import type { Api } from "../../connection/Api.ts"
import { diffEntryPoints } from "../../deployment/Changes.ts"
import { changeLines, entryPointLines } from "../../deployment/DeploymentText.ts"
import { type EntryPoint, type EntryPoints, listEntryPoints } from "../../deployment/EntryPoints.ts"
import { type ManifestReader, makeManifestReader } from "../../deployment/ManifestReader.ts"
import { fetchUrlBase, triggerUrl, type UrlBase } from "../../deployment/TriggerUrls.ts"
import { type Failure, failure } from "../../Failure.ts"
import { Output } from "../../output/Output.ts"
import { bytes } from "../../output/Sizes.ts"
import { localTime } from "../../output/Times.ts"
import type { Project } from "../../project/Project.ts"
import { findExport } from "./SourceLocations.ts"

interface Live {
  readonly build_id: string
  readonly hash: string
}

export interface LiveBuilds {
  /** Builds and uploads the current sources. On failure the live build remains; the failure has a source location. */
  readonly update: Effect.Effect<Bundle, Failure>
}

export interface LiveOptions {
  readonly api: Api["Service"]
  readonly project: Project
  readonly url: string
  readonly bundler: Bundler
}

/** The live build ends with the scope, unless another live build has replaced it. */
export const makeLiveBuilds = Effect.fnUntraced(function* ({ api, project, url, bundler }: LiveOptions) {
  const output = yield* Output
  const live = yield* Ref.make<Live | null>(null)
  const printEntryPoints = yield* makeEntryPointPrinter(api, url)
  yield* Effect.addFinalizer(() => endLive(api, project.name, live))

  const upload = Effect.fnUntraced(function* ({ zip, hash, inputs }: Bundle) {
    const { build_id } = yield* api
      .request((weft, options) => weft.builds.upload(project.name, zip, { ...options, hash, build_type: "live" }))
      .pipe(Effect.mapError((rejection) => withSourceLocation(rejection, project.folder, inputs)))
    yield* Ref.set(live, { build_id, hash })
    return build_id
  })

  return {
    update: Effect.gen(function* () {
      const started = yield* Clock.currentTimeMillis
      const bundle = yield* bundler.bundle(1)
      if ((yield* Ref.get(live))?.hash === bundle.hash) return bundle
      const build_id = yield* upload(bundle)
      const ms = (yield* Clock.currentTimeMillis) - started
      yield* output.line(
        { event: "live", build_id, ms, size: bundle.zip.length },
        () => `${output.paint.green("live")} in ${ms} ms, ${bytes(bundle.zip.length)}`
      )
      yield* printEntryPoints(bundle.zip)
      return bundle
    })
  } satisfies LiveBuilds
})

/** Adds the source location to an error of the server. */
const withSourceLocation = (rejection: Failure, folder: string, inputs: ReadonlyArray<string>): Failure => {
  const { code, message, remedy, details } = rejection
  const place = findExport(message, folder, inputs)
  return place === null ? rejection : failure(code, message, remedy, [place, ...details])
}

const endLive = Effect.fnUntraced(
  function* (api: Api["Service"], project: string, live: Ref.Ref<Live | null>) {
    const output = yield* Output
    const own = yield* Ref.get(live)
    if (own === null) return
    const now = yield* api.request((weft, options) => weft.builds.live(project, options))
    if (now.build_id !== own.build_id) return
    yield* api.request((weft, options) => weft.builds.endLive(project, options))
    yield* output.note("The live build has ended: the deployed build is active again")
  },
  Effect.timeout("5 seconds"),
  (ending) => Effect.ignore(ending)
)

/**
 * Prints the entry points of the first live build, then the changes of each following build. Runs in the background: the
 * next build need not wait.
 */
const makeEntryPointPrinter = Effect.fnUntraced(function* (api: Api["Service"], url: string) {
  const output = yield* Output
  const latest = yield* FiberHandle.make<void>()
  const setup = yield* Effect.forkScoped(
    Effect.all([makeManifestReader, Effect.option(api.request(fetchUrlBase(url)))], { concurrency: 2 })
  )
  let lastPrinted: EntryPoints | null = null

  const print = Effect.fnUntraced(function* (zip: Uint8Array) {
    const [reader, urlBase] = yield* Fiber.join(setup)
    const manifest = yield* reader.read(zip)
    const entryPoints = listEntryPoints(manifest)
    const [before, now] = [lastPrinted, yield* Clock.currentTimeMillis]
    lastPrinted = entryPoints
    if (before === null) {
      const notes = entryPoints.map((entryPoint) => entryPointNote(Option.getOrNull(urlBase), reader, entryPoint, now))
      yield* output.line(
        { event: "offer", offers: entryPoints.map((entryPoint, index) => ({ ...entryPoint, at: notes[index] })) },
        () =>
          entryPointLines(
            entryPoints,
            output.paint,
            (entryPoint) => notes[entryPoints.indexOf(entryPoint)] ?? null
          ).join("\n")
      )
      return
    }
    const changes = diffEntryPoints(before, entryPoints)
    if (changes.length === 0) return
    yield* output.line({ event: "changes", changes }, () => changeLines(changes, output.paint).join("\n"))
  })

  return (zip: Uint8Array) =>
    FiberHandle.run(
      latest,
      print(zip).pipe(
        // The server has accepted the build: only the output is missing.
        Effect.catchCause((cause) => output.note(`Cannot list the functions of the build: ${Cause.pretty(cause)}`))
      )
    )
})

/** Returns the URL of a webhook or tool, or the next due time of a schedule. */
const entryPointNote = (
  urlBase: UrlBase | null,
  reader: ManifestReader,
  entryPoint: EntryPoint,
  now: number
): string | null => {
  if (entryPoint.due === null) return urlBase === null ? null : triggerUrl(urlBase, entryPoint)
  const next = reader.nextTick(entryPoint.due, now)
  return next === null ? "never" : `next at ${localTime(new Date(next).toISOString())}`
}
